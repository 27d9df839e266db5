// The grammars that cmake/grammars.cmake builds, and the node types of their definitions.
#pragma once

#include <span>
#include <string_view>

#include "ingest/read/media_type.hpp"

struct TSLanguage;

namespace plimsoll::ingest {

struct Grammar {
  const TSLanguage* language = nullptr;
  std::span<const std::string_view> leaves;      // definitions kept whole: functions
  std::span<const std::string_view> containers;  // definitions with nested definitions: classes, namespaces
  std::span<const std::string_view> wrappers;    // nodes around a definition: templates, exports
};

// Null language: no grammar.
Grammar grammar_of(Language language);

}  // namespace plimsoll::ingest
