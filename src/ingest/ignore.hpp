// Rules of a .gitignore file, as in git: one pattern per line, the last match decides, "!" negates, a slash
// at the start or inside anchors, one at the end means folders only, "**" spans folders.
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
  // Never fails: an invalid pattern matches nothing.
  explicit IgnoreRules(std::string_view text);

  // Returns whether the path is excluded (true) or included again (false); none: no rule matches. The path is
  // relative to the folder of the file, with '/', without one at the start or end. The caller must not enter
  // an excluded folder: as in git, nothing below it can be included again. Costs at most the
  // length of the path times that of the patterns.
  std::optional<bool> verdict(std::string_view path, bool is_folder) const;

  bool empty() const { return rules_.empty(); }

 private:
  enum class Step : std::uint8_t { byte, any, star, folders, rest };  // x ? * **/ /**
  struct Token {
    Step step;
    std::bitset<256> bytes;  // for `byte`: the allowed bytes
  };
  struct Rule {
    std::vector<Token> tokens;
    std::string literal;  // the whole pattern, if it has no wildcards
    bool taken_back = false;
    bool folders_only = false;
    bool anchored = false;
  };
  static bool tokenize(std::string_view pattern, Rule& rule);
  static bool matches(const std::vector<Token>& tokens, std::string_view path);

  std::vector<Rule> rules_;
};

}  // namespace plimsoll::ingest
