// What Ollama's /api/chat replies, in OpenAI's form. Pure: clock and ids come from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/translated_reply.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ollama {

constexpr std::size_t longest_line = 32'000'000;

// Lines out of bytes as they come.
class LineReader {
 public:
  // upstream_failed where a line is longer than anybody's answer.
  Result<void> add(std::string_view bytes);
  // The next whole line without its end, valid until the next call of either; empty lines are passed over.
  std::optional<std::string_view> next();
  // What stands behind the last line end.
  std::string_view rest() const;
  // The same, if there is any.
  std::optional<std::string_view> last() const {
    return rest().empty() ? std::nullopt : std::optional(rest());
  }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
  std::size_t looked_ = 0;  // there is no line end before
};

using Identity = base::ChatIdentity;

// One reply, line after line.
class EventWriter {
 public:
  explicit EventWriter(Identity identity) : identity_(std::move(identity)) {}

  // Adds to `events` what becomes of the line. upstream_failed: it is none of Ollama's.
  Result<void> take(std::string_view line, std::string& events);
  bool has_ended() const { return ended_; }

 private:
  Identity identity_;
  bool begun_ = false;
  bool ended_ = false;
  std::size_t tool_calls_ = 0;
};

// The reply to a request that was not to be streamed. An {"error"} in it becomes upstream_failed.
Result<std::string> to_completion(std::string_view reply, const Identity& identity);

// The body of an error as OpenAI words it, with the message that Ollama, or whoever answered, gave.
std::string to_error(int status, std::string_view body);

// The prompt, out of the reply to a request with `_debug_render_only`.
Result<std::string> rendered_in(std::string_view reply);

}  // namespace plimsoll::ollama
