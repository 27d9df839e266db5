#include "gateway/http/event_answer.hpp"

#include <utility>

#include "base/json/json_member.hpp"
#include "gateway/http/answer_json.hpp"

namespace plimsoll::gateway {

using base::member;
using base::text_in;

void EventAnswer::take(std::string_view data, std::string& out) {
  if (ended_ || data.empty()) return;
  const Json chunk = parsed(data);
  if (!chunk.is_object()) return;
  const Json& error = member(chunk, "error");
  if (error.is_null()) return take_chunk(chunk, out);
  break_off(error.is_string() ? error.get<std::string>() : text_in(error, "message"), out);
}

void EventAnswer::break_off(std::string what, std::string& out) {
  if (std::exchange(ended_, true)) return;
  fail_with(std::move(what), out);
}

void EventAnswer::finish(bool complete, std::string& out) {
  if (std::exchange(ended_, true)) return;
  if (!complete && reason_.empty())
    fail_with("the upstream's answer was cut off", out);
  else
    end(out);
}

Result<std::string> EventAnswer::whole(std::string_view completion, bool streams) {
  const Json reply = parsed(completion);
  const Json& choices = member(reply, "choices");
  if (!choices.is_array() || choices.empty())
    return fail(Errc::upstream_failed, "the upstream's answer is not a completion");
  silent_ = !streams;
  std::string out;
  take_chunk(reply, out);
  ended_ = true;
  end(out);
  return streams ? out : as_one();
}

}  // namespace plimsoll::gateway
