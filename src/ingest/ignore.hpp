// Rules of a .gitignore file, as git has them: one pattern a line, the last that matches decides, "!" takes
// back, a slash in front or inside anchors, one at the end means folders only, "**" spans folders.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::ingest {

class IgnoreRules {
 public:
  // Never fails: a line that is no pattern matches nothing.
  explicit IgnoreRules(std::string_view text);

  // Whether the path is left out (true) or taken in again (false); nothing: no rule speaks of it. The path is
  // relative to the folder of the file, with '/', without one in front or behind. Whoever asks does not go
  // into a folder that is left out: as in git, nothing below it can be taken in again. Costs at most the
  // length of the path times that of the patterns.
  std::optional<bool> verdict(std::string_view path, bool is_folder) const;

  bool empty() const { return rules_.empty(); }

 private:
  enum class Step : std::uint8_t { byte, any, star, folders, rest };  // x ? * **/ /**
  struct Token {
    Step step;
    std::bitset<256> bytes;  // of `byte`: which may stand there
  };
  struct Rule {
    std::vector<Token> tokens;
    std::string literal;  // where there are no wildcards, all of it
    bool taken_back = false;
    bool folders_only = false;
    bool anchored = false;
  };
  static bool tokenize(std::string_view pattern, Rule& rule);
  static bool matches(const std::vector<Token>& tokens, std::string_view path);

  std::vector<Rule> rules_;
};

}  // namespace plimsoll::ingest
