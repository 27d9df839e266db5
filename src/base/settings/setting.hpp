// One setting: its name, where its value is kept, what is allowed and what it means. The folder that uses a
// setting declares it, in a struct and a table of its own; src/config puts all of them together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/secret.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::base {

// Above every window; catches a value in bytes or a typo.
inline constexpr std::int64_t most_tokens = 100'000'000;

// The object that holds all settings derives from this and from the struct of each folder.
struct SettingParts {
  SettingParts() = default;
  SettingParts(const SettingParts&) = default;
  SettingParts(SettingParts&&) = default;
  SettingParts& operator=(const SettingParts&) = default;
  SettingParts& operator=(SettingParts&&) = default;
  virtual ~SettingParts() = default;

  // Where each value that is not a default came from, by key: "file /etc/plimsoll/plimsoll.toml:12",
  // "environment MIN_TOP_K", "flag".
  std::map<std::string, std::string, std::less<>> origins;

  std::string_view origin_of(std::string_view key) const;  // "default" if it was not set
};

// A member of one folder's struct, found in the object that holds all of them.
template <typename T>
class Member {
 public:
  template <typename Part>
  Member(T Part::*member)  // NOLINT(google-explicit-constructor): tables name members
      : in_([member](SettingParts& all) -> T& { return dynamic_cast<Part&>(all).*member; }),
        read_([member](const SettingParts& all) -> const T& {
          return dynamic_cast<const Part&>(all).*member;
        }) {}
  T& in(SettingParts& all) const { return in_(all); }
  const T& in(const SettingParts& all) const { return read_(all); }

 private:
  std::function<T&(SettingParts&)> in_;
  std::function<const T&(const SettingParts&)> read_;
};

// The member that a setting is stored in, and its allowed values.
struct Whole {
  Member<std::int64_t> member;
  std::int64_t least;
  std::int64_t most;
};
struct OptionalWhole {
  Member<std::optional<std::int64_t>> member;
  std::int64_t least;
  std::int64_t most;
  std::string_view absent;  // the word for "no value": "unlimited"
};
struct Real {
  Member<double> member;
  double least;
  double most;
};
struct Flag {
  Member<bool> member;
};
struct Text {  // one line
  Member<std::string> member;
};
struct Url {
  Member<std::string> member;
};
struct Names {
  Member<std::vector<std::string>> member;
};
struct Path {
  Member<std::filesystem::path> member;
};
struct SecretText {
  Member<Secret> member;
};
struct Choice {  // an enumeration whose values are the indices of `words`
  std::span<const std::string_view> words;
  std::function<void(SettingParts&, std::size_t index)> set;
  std::function<std::size_t(const SettingParts&)> get;
};
template <typename Part, typename Enum>
Choice choice(Enum Part::*member, std::span<const std::string_view> words) {
  const Member<Enum> at(member);
  return {words, [at](SettingParts& all, std::size_t index) { at.in(all) = static_cast<Enum>(index); },
          [at](const SettingParts& all) { return static_cast<std::size_t>(at.in(all)); }};
}
using Binding = std::variant<Whole, OptionalWhole, Real, Flag, Text, Url, Names, Path, SecretText, Choice>;

struct Setting {
  std::string_view key;          // "min_top_k": in TOML, in --set, and PLIMSOLL_MIN_TOP_K
  std::string_view environment;  // name that other programs use for it, or ""
  Binding binding;
  std::string_view meaning;

  std::string prefixed_environment() const;  // "PLIMSOLL_MIN_TOP_K"
  bool is_secret() const { return std::holds_alternative<SecretText>(binding); }
};

}  // namespace plimsoll::base
