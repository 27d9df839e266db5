// The grammars that cmake/grammars.cmake builds, and what their definitions are called.
#pragma once

#include <span>
#include <string_view>

#include "ingest/read/media_type.hpp"

struct TSLanguage;

namespace plimsoll::ingest {

struct Grammar {
  const TSLanguage* language = nullptr;
  std::span<const std::string_view> leaves;      // definitions that are kept whole: functions
  std::span<const std::string_view> containers;  // definitions that hold others: classes, namespaces
  std::span<const std::string_view> wrappers;    // what a definition may stand in: templates, exports
};

// Null language: there is none.
Grammar grammar_of(Language language);

}  // namespace plimsoll::ingest
