# plimsoll_jinja: llama.cpp's Jinja engine (MIT), which set-up brought, compiled as a static library.
#
# Its sources are copied into the build folder with the few changes below. They make it answer as Python's
# jinja2 does where it differs, carry where a stretch of text came from, and stop what never ends. A change
# that does not apply stops the configuration: the engine was exchanged, and the change must be looked at.
if(PLIMSOLL_ASSETS)
  set(ASSETS ${PLIMSOLL_ASSETS})
elseif(IS_ABSOLUTE "$ENV{XDG_CACHE_HOME}")
  set(ASSETS $ENV{XDG_CACHE_HOME}/plimsoll/assets)
else()
  set(ASSETS $ENV{HOME}/.cache/plimsoll/assets)
endif()
set(JINJA_FROM ${ASSETS}/jinja/common)
set(JINJA_INTO ${PROJECT_BINARY_DIR}/jinja)
set(JINJA_FILES json.cpp json.h unicode.cpp unicode.h jinja/lexer.cpp jinja/lexer.h jinja/parser.cpp jinja/parser.h
  jinja/runtime.cpp jinja/runtime.h jinja/string.cpp jinja/string.h jinja/utils.h jinja/value.cpp jinja/value.h)

foreach(FILE ${JINJA_FILES})
  if(NOT EXISTS ${JINJA_FROM}/${FILE})
    message(FATAL_ERROR "The Jinja engine is not set up: ${JINJA_FROM}/${FILE} is missing.\n"
      "Run `tools/setup assets`, or name the folder that it filled with -DPLIMSOLL_ASSETS=FOLDER.")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${JINJA_FROM}/${FILE})
  file(READ ${JINJA_FROM}/${FILE} JINJA_TEXT_${FILE})
endforeach()

function(jinja_change FILE OLD NEW)
  string(FIND "${JINJA_TEXT_${FILE}}" "${OLD}" AT)
  if(AT EQUAL -1)
    message(FATAL_ERROR "${JINJA_FROM}/${FILE} does not have the text to change:\n${OLD}")
  endif()
  string(REPLACE "${OLD}" "${NEW}" TEXT "${JINJA_TEXT_${FILE}}")
  set(JINJA_TEXT_${FILE} "${TEXT}" PARENT_SCOPE)
endfunction()

# ---- Where text came from: a part knows its message, and transformations keep that ----
jinja_change(jinja/string.h "    std::string val;

    bool is_uppercase" "    std::string val;
    int origin = -1;

    bool is_uppercase")
jinja_change(jinja/string.cpp "    if (other.all_parts_are_input()) {
        for (auto & part : parts) {" "    if (!other.parts.empty() && other.all_parts_are_input()) {
        for (auto & part : parts) {
            part.origin = other.parts.front().origin;")
jinja_change(jinja/value.cpp "static value tojson(const func_args & args) {" "static value tojson_text(const func_args & args) {")
jinja_change(jinja/value.cpp "static value & get_attribute(" "static value tojson(const func_args & args) {
    value result = tojson_text(args);
    set_origin(result, origin_of(args.get_pos(0)));
    return result;
}

static value & get_attribute(")
jinja_change(jinja/value.h "const func_builtins & global_builtins();" "const func_builtins & global_builtins();

// The first part of the value that came from the request, or -1; and to say that a string is such a part.
int origin_of(const value & val);
void set_origin(const value & string, int origin);
const func_builtins & original_string_builtins();")
jinja_change(jinja/value.cpp "            std::string result;
            for (size_t i = 0; i < arr.size(); ++i) {
                value val_arr = arr[i];" "            jinja::string result;
            for (size_t i = 0; i < arr.size(); ++i) {
                value val_arr = arr[i];")
jinja_change(jinja/value.cpp "                result += val_arr->as_string().str();" "                result.append(val_arr->as_string());")
jinja_change(jinja/value.cpp "                    result += delim;" "                    result.append(jinja::string(delim));")

# ---- A namespace that holds itself is never let go: empty it when the rendering is over ----
jinja_change(jinja/value.cpp "static value toobject(const func_args & args) {
    auto out = mk_val<value_object>();" "static value toobject(const func_args & args) {
    auto out = mk_val<value_object>();
    plimsoll::count::hooks::at_end([made = std::weak_ptr<value_object_t>(out)] {
        if (const auto object = made.lock()) {
            object->val_obj.clear();
            object->unordered.clear();
        }
    });")

# ---- As Python has it: methods of strings, numbers, None, and what + refuses ----
jinja_change(jinja/value.cpp "const func_builtins & value_string_t::get_builtins() const {" "const func_builtins & original_string_builtins() {")
jinja_change(jinja/value.cpp "        oss << val->as_float();" "        oss << plimsoll::count::hooks::python_float(val->as_float());")
jinja_change(jinja/value.h "        std::string out = std::to_string(val_flt);
        out.erase(out.find_last_not_of('0') + 1, std::string::npos); // remove trailing zeros
        if (out.back() == '.') out.push_back('0'); // leave one zero if no decimals
        return out;" "        return plimsoll::count::hooks::python_float(val_flt);")
jinja_change(jinja/runtime.h "    } else if (is_val<value_int>(val) || is_val<value_float>(val) || is_val<value_bool>(val)) {"
  "    } else if (is_val<value_int>(val) || is_val<value_float>(val) || is_val<value_bool>(val) || is_val<value_none>(val)) {")
jinja_change(jinja/runtime.cpp "        if ((is_left_null && is_right_str) || (is_right_null && is_left_str)) {"
  "        if (op.value == \"~\" && ((is_left_null && is_right_str) || (is_right_null && is_left_str))) {")
jinja_change(jinja/runtime.cpp "            string left_str  = is_left_null  ? string()" "            string left_str  = left_val->is_undefined() ? string()")
jinja_change(jinja/runtime.cpp "            string right_str = is_right_null ? string()" "            string right_str = right_val->is_undefined() ? string()")
jinja_change(jinja/runtime.cpp "        auto output = left_val->as_string().append(right_val->as_string());
        auto res = mk_val<value_string>();" "        if (op.value == \"+\" && !(is_val<value_string>(left_val) && is_val<value_string>(right_val))) {
            throw std::runtime_error(\"can only concatenate text to text, not \" + left_val->type() + \" + \" + right_val->type());
        }
        auto output = left_val->as_string().append(right_val->as_string());
        auto res = mk_val<value_string>();")

jinja_change(jinja/lexer.cpp "                    if (current == 1) {" "                    if (current == 1 && std::isspace(static_cast<unsigned char>(c))) {")

# ---- Bounds: every step, every growth and every recursion is asked whether it may go on ----
jinja_change(jinja/runtime.cpp "    try {
        return execute_impl(ctx);" "    plimsoll::count::hooks::step();
    try {
        return execute_impl(ctx);")
jinja_change(jinja/string.cpp "    for (const auto & part : other.parts) {
        parts.push_back(part);" "    for (const auto & part : other.parts) {
        plimsoll::count::hooks::grow(part.val.size() + sizeof(part));
        parts.push_back(part);")
# A scope copies all variables, which takes as long as some dozens of steps.
jinja_change(jinja/runtime.h "    context(const context & parent) : context() {" "    context(const context & parent) : context() {
        plimsoll::count::hooks::step(32);")
jinja_change(jinja/value.cpp "    auto indent_str = [indent, curr_lvl]()" "    plimsoll::count::hooks::step();
    auto indent_str = [indent, curr_lvl]()")
jinja_change(jinja/value.cpp "std::string value_to_string_repr(const value & val) {" "std::string value_to_string_repr(const value & val) {
    plimsoll::count::hooks::step();")
jinja_change(jinja/parser.cpp "    bool is(token::type type) const {" "    bool is(token::type type) const {
        plimsoll::count::hooks::step();")
jinja_change(jinja/value.cpp "            bool res = args.get_pos(0)->val_int % args.get_pos(1)->val_int == 0;"
  "            const int64_t by = args.get_pos(1)->as_int();
            if (by == 0) throw raised_exception(\"divisibleby: by zero\");
            bool res = by == -1 || args.get_pos(0)->as_int() % by == 0;")

# ---- Speed: tables of functions are looked into, not copied ----
jinja_change(jinja/runtime.cpp "    auto builtins = global_builtins();" "    const auto & builtins = global_builtins();")
jinja_change(jinja/runtime.cpp "    auto builtins = input->get_builtins();" "    const auto & builtins = input->get_builtins();")

foreach(FILE ${JINJA_FILES})
  file(WRITE ${JINJA_INTO}/changed "${JINJA_TEXT_${FILE}}")
  configure_file(${JINJA_INTO}/changed ${JINJA_INTO}/${FILE} COPYONLY)
endforeach()
file(WRITE ${JINJA_INTO}/changed "#pragma once\n#include <cassert>\n#define GGML_ASSERT(x) assert(x)\n")
configure_file(${JINJA_INTO}/changed ${JINJA_INTO}/ggml.h COPYONLY)

list(TRANSFORM JINJA_FILES PREPEND ${JINJA_INTO}/)
list(FILTER JINJA_FILES INCLUDE REGEX "\\.cpp$")
add_library(plimsoll_jinja STATIC ${JINJA_FILES}
  ${PROJECT_SOURCE_DIR}/src/count/chat/jinja_hooks.cpp ${PROJECT_SOURCE_DIR}/src/count/chat/jinja_strings.cpp)
target_include_directories(plimsoll_jinja SYSTEM PUBLIC $<BUILD_INTERFACE:${JINJA_INTO}>)
target_include_directories(plimsoll_jinja PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_compile_options(plimsoll_jinja PRIVATE -w "SHELL:-include count/chat/jinja_hooks.hpp")
target_link_libraries(plimsoll_jinja PRIVATE nlohmann_json::nlohmann_json fmt::fmt)
