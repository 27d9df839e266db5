// The window of a served model, its source and confidence, and the requests that find it. Pure: the caller
// sends the requests and passes the replies as text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// From the most to the least certain.
enum class WindowSource : std::uint8_t {
  configured,   // the user set it
  served,       // reported by the server as its actual window
  requestable,  // the server can load the model with this window (Ollama's num_ctx)
  declared,     // the model's maximum, from the server or the model file
  catalogue,    // known by the model's name
  assumed,      // not found: DEFAULT_CONTEXT_WINDOW
};
// "configured", "served", "requestable", "declared", "catalogue", "default".
std::string_view name_of(WindowSource source);

enum class Confidence : std::uint8_t { high, medium, low };
std::string_view name_of(Confidence confidence);

// One attempt to find the window, and its result.
struct WindowAttempt {
  std::string way;     // "ollama POST /api/show", "catalogue"
  std::string result;  // "num_ctx 8,192", "timed out after 2 s", "no entry for 'my-model'"
};

// "WAY: RESULT", separated by semicolons.
std::string in_words(const std::vector<WindowAttempt>& tried);

struct Window {
  Tokens tokens = 0;
  WindowSource source = WindowSource::assumed;
  Confidence confidence = Confidence::low;
  std::vector<WindowAttempt> tried;
  // For requestable: the window that the server uses now; 0: not reported.
  Tokens served_now = 0;
};

// A number above this or below 1 is an error.
constexpr Tokens largest_served_window = 100'000'000;

enum class ServerKind : std::uint8_t {
  ollama,
  llama_cpp,
  vllm,  // and KAITO workspaces, which run it
  openrouter,
  lm_studio,
  tgi,
  gemini,
  anthropic,
  openai,  // any other with OpenAI's list of models, which has no windows
};
// "ollama", "llama.cpp", "vllm", "openrouter", "lmstudio", "tgi", "gemini", "anthropic", "openai".
std::string_view name_of(ServerKind kind);
// Finds a kind by its name, or by "kaito", "llamacpp", "lm-studio"; ignores case.
std::optional<ServerKind> server_kind_of(std::string_view name);
std::span<const ServerKind> all_server_kinds();

// Returns whether the server chooses the window when it loads a model, so the model's maximum does not apply.
bool chooses_window_on_load(ServerKind kind);

// What a server or a model file reports about one model. 0 and empty: not reported.
struct ReportedModel {
  std::string name;
  Tokens served = 0;      // window that the model runs with
  std::string served_by;  // the field with this value: "num_ctx"
  Confidence confidence = Confidence::high;
  Tokens maximum = 0;  // the model's maximum
  Tokens max_output = 0;
  std::string parameters;    // "3.2B"
  std::string quantization;  // "Q4_K_M"
  std::string family;        // "llama"
  std::string problem;       // why a reported number is ignored
};

struct ServerAsk {
  std::string_view method;
  std::string path;  // below the server's root, with its query
  std::string body;  // JSON, or empty
};
// Lists the models.
ServerAsk ask_for_models(ServerKind kind);
// Describes one model, if the server has a separate request for it.
std::optional<ServerAsk> ask_for_model(ServerKind kind, std::string_view model);
// Lists the loaded models, if the server has such a request.
std::optional<ServerAsk> ask_for_loaded(ServerKind kind);
// A request that only this kind of server answers as expected.
ServerAsk ask_whether(ServerKind kind);

// Read the replies to these requests. upstream_failed: not such a reply; the error says what it is
// instead. Bad entries do not spoil a list; their `problem` says what is wrong.
Result<std::vector<ReportedModel>> read_models(ServerKind kind, std::string_view reply);
Result<ReportedModel> read_model(ServerKind kind, std::string_view reply);
Result<std::vector<ReportedModel>> read_loaded(ServerKind kind, std::string_view reply);
bool answers_as(ServerKind kind, std::string_view reply);
// Detects the kind of server from its reply to OpenAI's GET /v1/models, if possible.
std::optional<ServerKind> recognise_by_models(std::string_view reply);

// Finds a model's entry by name, completed as the server does ("llama3.2" is
// "llama3.2:latest").
const ReportedModel* find_served(const std::vector<ReportedModel>& models, std::string_view name);

// Reads the start of a GGUF file, or all of it. Sets `maximum` to the model's trained window.
Result<ReportedModel> read_gguf_model(std::string_view file);

}  // namespace plimsoll
