#include "ingest/ignore.hpp"

#include <array>
#include <cctype>
#include <utility>

#include "ingest/lines.hpp"

namespace plimsoll::ingest {
namespace {

using Bytes = std::bitset<256>;

// Longer patterns are not realistic and would only cost time.
constexpr std::size_t most_pattern = 1024;
constexpr std::size_t most_rules = 20'000;

std::size_t value(char c) {
  return static_cast<unsigned char>(c);
}

// Parses "[:alpha:]" and similar at the start of the text; returns its size, or 0.
std::size_t named_class(std::string_view text, Bytes& bytes) {
  struct Named {
    std::string_view name;
    int (*holds)(int);
  };
  static constexpr std::array names{Named{"[:alnum:]", std::isalnum}, Named{"[:alpha:]", std::isalpha},
                                    Named{"[:digit:]", std::isdigit}, Named{"[:lower:]", std::islower},
                                    Named{"[:upper:]", std::isupper}, Named{"[:space:]", std::isspace},
                                    Named{"[:punct:]", std::ispunct}, Named{"[:xdigit:]", std::isxdigit}};
  for (const Named& named : names) {
    if (!text.starts_with(named.name)) continue;
    for (int c = 0; c < 128; ++c)
      if (named.holds(c) != 0) bytes.set(static_cast<std::size_t>(c));
    return named.name.size();
  }
  return 0;
}

// Parses "[a-z]", "[!x]", "[]]"; returns its size, or 0 if it is not closed.
std::size_t bracket(std::string_view text, Bytes& bytes) {
  std::size_t at = 1;
  const bool negated = at < text.size() && (text[at] == '!' || text[at] == '^');
  if (negated) ++at;
  for (bool first = true; at < text.size(); first = false) {
    if (text[at] == ']' && !first) {
      if (negated) bytes.flip();
      bytes.reset('/');
      return at + 1;
    }
    if (const std::size_t named = named_class(text.substr(at), bytes); named > 0) {
      at += named;
      continue;
    }
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    const std::size_t low = value(text[at++]);
    std::size_t high = low;
    if (at + 1 < text.size() && text[at] == '-' && text[at + 1] != ']') {
      ++at;
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      high = value(text[at++]);
    }
    for (std::size_t c = low; c <= high; ++c) bytes.set(c);
  }
  return 0;
}

}  // namespace

IgnoreRules::IgnoreRules(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  each_line(text, [&](Span span) {
    std::string_view line = text.substr(span.start, span.size());
    if (line.empty() || line.front() == '#' || line.size() > most_pattern || rules_.size() >= most_rules)
      return;
    Rule rule;
    if (line.front() == '!') {
      rule.taken_back = true;
      line.remove_prefix(1);
    }
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
    if (line.ends_with('/')) {
      rule.folders_only = true;
      line.remove_suffix(1);
    }
    rule.anchored = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (!line.empty() && tokenize(line, rule)) rules_.push_back(std::move(rule));
  });
}

bool IgnoreRules::tokenize(std::string_view pattern, Rule& rule) {
  bool plain = true;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view here = pattern.substr(at);
    const bool begins = at == 0 || pattern[at - 1] == '/';
    Token token{.step = Step::byte, .bytes = {}};
    if (begins && here.starts_with("**/")) {
      token.step = Step::folders;
      at += 3;
    } else if (begins && here == "**") {
      token.step = Step::rest;
      at += 2;
    } else if (here.front() == '*') {
      token.step = Step::star;
      while (at < pattern.size() && pattern[at] == '*') ++at;
    } else if (here.front() == '?') {
      token.step = Step::any;
      ++at;
    } else if (here.front() == '[') {
      const std::size_t bytes = bracket(here, token.bytes);
      if (bytes == 0) return false;
      at += bytes;
    } else {
      if (here.front() == '\\') {
        if (here.size() == 1) return false;
        ++at;
      }
      token.bytes.set(value(pattern[at]));
      rule.literal += pattern[at++];
      rule.tokens.push_back(token);
      continue;
    }
    plain = false;
    rule.tokens.push_back(token);
  }
  if (!plain) rule.literal.clear();
  return true;
}

// Tracks all possible positions in the pattern, one byte at a time: the work is at most the product of both
// lengths.
bool IgnoreRules::matches(const std::vector<Token>& tokens, std::string_view path) {
  const std::size_t count = tokens.size();
  std::vector<char> at(count + 1);      // before token i
  std::vector<char> inside(count + 1);  // in the middle of a folder's name, in "**/"
  const auto skip = [&](std::vector<char>& places) {
    for (std::size_t i = 0; i < count; ++i)
      if (places[i] != 0 && (tokens[i].step == Step::star || tokens[i].step == Step::folders))
        places[i + 1] = 1;
  };
  at[0] = 1;
  skip(at);
  for (const char c : path) {
    std::vector<char> next(count + 1);
    std::vector<char> next_inside(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const Step step = tokens[i].step;
      if (step == Step::folders) {
        if (at[i] == 0 && inside[i] == 0) continue;
        if (c == '/')
          next[i] = 1;
        else
          next_inside[i] = 1;
      } else if (at[i] != 0) {
        if (step == Step::rest) next[i] = next[i + 1] = 1;
        if (step == Step::star && c != '/') next[i] = 1;
        if (step == Step::any && c != '/') next[i + 1] = 1;
        if (step == Step::byte && tokens[i].bytes.test(value(c))) next[i + 1] = 1;
      }
    }
    skip(next);
    at.swap(next);
    inside.swap(next_inside);
  }
  return at[count] != 0;
}

std::optional<bool> IgnoreRules::verdict(std::string_view path, bool is_folder) const {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folders_only && !is_folder) continue;
    const std::string_view subject = rule->anchored ? path : name;
    if (rule->literal.empty() ? matches(rule->tokens, subject) : rule->literal == subject)
      return !rule->taken_back;
  }
  return std::nullopt;
}

}  // namespace plimsoll::ingest
