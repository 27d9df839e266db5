// Recognises a request in what a server says: servers that check a request repeat parts of it in errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::engine {

// The texts that a server may repeat.
struct OwnWords {
  std::string_view model;                 // as the client named it: that name is not private
  std::vector<std::string_view> texts{};  // the request as it came, what was sent, and more of the client's
};

// Returns whether `said` may have words of the request.
bool repeats_request(const OwnWords& own, std::string_view said);
// Returns whether the request has one of these phrases, in lower case, in any case.
bool holds_words(const OwnWords& own, const std::vector<std::string>& words);
// Returns `said` for the log and the trace. Unless prompts are kept, words of the request are not.
std::string for_the_record(bool keep_prompts, const OwnWords& own, std::string said);

}  // namespace plimsoll::engine
