#include "ingest/read/grammars.hpp"

#include <array>

extern "C" {
const TSLanguage* tree_sitter_c();
const TSLanguage* tree_sitter_cpp();
const TSLanguage* tree_sitter_python();
const TSLanguage* tree_sitter_javascript();
const TSLanguage* tree_sitter_typescript();
const TSLanguage* tree_sitter_tsx();
const TSLanguage* tree_sitter_go();
const TSLanguage* tree_sitter_rust();
const TSLanguage* tree_sitter_java();
}

namespace plimsoll::ingest {
namespace {

using namespace std::string_view_literals;

// C and C++.
constexpr std::array c_leaves{"function_definition"sv, "struct_specifier"sv, "union_specifier"sv,
                              "enum_specifier"sv,      "type_definition"sv,  "concept_definition"sv,
                              "preproc_function_def"sv};
constexpr std::array c_containers{"class_specifier"sv, "namespace_definition"sv};
constexpr std::array c_wrappers{
    "template_declaration"sv, "linkage_specification"sv, "preproc_if"sv,       "preproc_ifdef"sv,
    "preproc_else"sv,         "preproc_elif"sv,          "declaration_list"sv, "ERROR"sv};

constexpr std::array python_leaves{"function_definition"sv};
constexpr std::array python_containers{"class_definition"sv};
constexpr std::array python_wrappers{"decorated_definition"sv, "if_statement"sv, "block"sv, "ERROR"sv};

constexpr std::array script_leaves{"function_declaration"sv, "generator_function_declaration"sv,
                                   "method_definition"sv,    "interface_declaration"sv,
                                   "enum_declaration"sv,     "type_alias_declaration"sv,
                                   "function_signature"sv};
constexpr std::array script_containers{"class_declaration"sv, "abstract_class_declaration"sv,
                                       "internal_module"sv, "module"sv};
constexpr std::array script_wrappers{"export_statement"sv, "ambient_declaration"sv, "expression_statement"sv,
                                     "ERROR"sv};

constexpr std::array go_leaves{"function_declaration"sv, "method_declaration"sv, "type_declaration"sv};
constexpr std::array go_wrappers{"ERROR"sv};

constexpr std::array rust_leaves{"function_item"sv, "struct_item"sv, "enum_item"sv,
                                 "union_item"sv,    "type_item"sv,   "macro_definition"sv};
constexpr std::array rust_containers{"impl_item"sv, "trait_item"sv, "mod_item"sv};
constexpr std::array rust_wrappers{"ERROR"sv};

constexpr std::array java_leaves{"method_declaration"sv, "constructor_declaration"sv,
                                 "compact_constructor_declaration"sv};
constexpr std::array java_containers{"class_declaration"sv, "interface_declaration"sv, "enum_declaration"sv,
                                     "record_declaration"sv, "annotation_type_declaration"sv};
constexpr std::array java_wrappers{"enum_body_declarations"sv, "ERROR"sv};

}  // namespace

Grammar grammar_of(Language language) {
  switch (language) {
    case Language::none: return {};
    case Language::c: return {tree_sitter_c(), c_leaves, {}, c_wrappers};
    case Language::cpp: return {tree_sitter_cpp(), c_leaves, c_containers, c_wrappers};
    case Language::python: return {tree_sitter_python(), python_leaves, python_containers, python_wrappers};
    case Language::javascript:
      return {tree_sitter_javascript(), script_leaves, script_containers, script_wrappers};
    case Language::typescript:
      return {tree_sitter_typescript(), script_leaves, script_containers, script_wrappers};
    case Language::tsx: return {tree_sitter_tsx(), script_leaves, script_containers, script_wrappers};
    case Language::go: return {tree_sitter_go(), go_leaves, {}, go_wrappers};
    case Language::rust: return {tree_sitter_rust(), rust_leaves, rust_containers, rust_wrappers};
    case Language::java: return {tree_sitter_java(), java_leaves, java_containers, java_wrappers};
  }
  return {};
}

}  // namespace plimsoll::ingest
