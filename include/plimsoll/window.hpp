// How many tokens a model holds where it is served, who said so, and how sure that is; and what servers
// are asked to find out. Pure: whoever sends the questions hands the replies back as text.
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

// From the surest to the least sure.
enum class WindowSource : std::uint8_t {
  configured,   // the user set it
  served,       // the server said what it really serves
  requestable,  // the server can be asked to load the model with so much (Ollama's num_ctx)
  declared,     // the server or the model's file said what the model could do
  catalogue,    // known by the model's name
  assumed,      // nobody knew: DEFAULT_CONTEXT_WINDOW
};
// "configured", "served", "requestable", "declared", "catalogue", "default".
std::string_view name_of(WindowSource source);

enum class Confidence : std::uint8_t { high, medium, low };
std::string_view name_of(Confidence confidence);

// One way that was tried, in order, and what came of it.
struct WindowAttempt {
  std::string way;     // "ollama POST /api/show", "catalogue"
  std::string result;  // "num_ctx 8,192", "timed out after 2 s", "no entry for 'my-model'"
};

struct Window {
  Tokens tokens = 0;
  WindowSource source = WindowSource::assumed;
  Confidence confidence = Confidence::low;
  std::vector<WindowAttempt> tried;
  // Of a requestable one: what the server serves now, before anybody asks for more; 0: it did not say.
  Tokens served_now = 0;
};

// A figure above this is a mistake or a lie; so is one below 1.
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
  openai,  // any other with OpenAI's list of models, which tells no windows
};
// "ollama", "llama.cpp", "vllm", "openrouter", "lmstudio", "tgi", "gemini", "anthropic", "openai".
std::string_view name_of(ServerKind kind);
// By that name, or "kaito", "llamacpp", "lm-studio"; whatever its case.
std::optional<ServerKind> server_kind_of(std::string_view name);
std::span<const ServerKind> all_server_kinds();

// Whether the server chooses a window when it loads a model. What the model could do says nothing of that.
bool chooses_window_on_load(ServerKind kind);

// What a server, or a model's own file, says of one model. 0 and empty: it did not say.
struct ModelLocation {
  std::string name;
  Tokens served = 0;      // what the model really runs with
  std::string served_by;  // the field that said so: "num_ctx"
  Confidence confidence = Confidence::high;
  Tokens maximum = 0;  // what the model could do
  Tokens max_output = 0;
  std::string parameters;    // "3.2B"
  std::string quantization;  // "Q4_K_M"
  std::string family;        // "llama"
  std::string problem;       // why a figure that stood there is not believed
};

struct ServerAsk {
  std::string_view method;
  std::string path;  // below the server's root, with its query
  std::string body;  // JSON, or empty
};
// Which models there are.
ServerAsk ask_for_models(ServerKind kind);
// What runs one of them, where that is a question of its own.
std::optional<ServerAsk> ask_for_model(ServerKind kind, std::string_view model);
// Which are loaded, likewise.
std::optional<ServerAsk> ask_for_loaded(ServerKind kind);
// A question that only such a server answers as expected.
ServerAsk ask_whether(ServerKind kind);

// The replies to those questions. upstream_failed: it is not such a reply; the sentence says what stands
// there instead. A list with some bad entries is a list; the entries say what is wrong with them.
Result<std::vector<ModelLocation>> read_models(ServerKind kind, std::string_view reply);
Result<ModelLocation> read_model(ServerKind kind, std::string_view reply);
Result<std::vector<ModelLocation>> read_loaded(ServerKind kind, std::string_view reply);
bool answers_as(ServerKind kind, std::string_view reply);
// Which server gave this reply to OpenAI's GET /v1/models, if its list shows that.
std::optional<ServerKind> recognise_by_models(std::string_view reply);

// The model's entry: by the name, or as the server itself would complete it ("llama3.2" is
// "llama3.2:latest").
const ModelLocation* find_served(const std::vector<ModelLocation>& models, std::string_view name);

// The front of a GGUF file, or all of it. `maximum` is what the model was made for; nothing is served yet.
Result<ModelLocation> read_gguf_model(std::string_view file);

}  // namespace plimsoll
