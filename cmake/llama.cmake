# plimsoll_llama_cpp: llama.cpp (MIT), which set-up built as static libraries. Only its C interface is used, so that it goes
# with any compiler and any sanitizer of ours.
# PLIMSOLL_LLAMA names a folder with another build of it, as for another processor.
set(PLIMSOLL_LLAMA "" CACHE PATH "Folder with include/ and lib/ of llama.cpp; empty: what set-up built")
set(LLAMA_FROM ${ASSETS}/llama.cpp)
if(PLIMSOLL_LLAMA)
  set(LLAMA_FROM ${PLIMSOLL_LLAMA})
endif()
if(NOT EXISTS ${LLAMA_FROM}/lib/libllama.a)
  message(FATAL_ERROR "llama.cpp is not set up: ${LLAMA_FROM}/lib/libllama.a is missing.\n"
    "Run `tools/setup assets`, or name the folder that it filled with -DPLIMSOLL_ASSETS=FOLDER.")
endif()
add_library(plimsoll_llama_cpp INTERFACE)
target_include_directories(plimsoll_llama_cpp SYSTEM INTERFACE ${LLAMA_FROM}/include)
target_link_libraries(plimsoll_llama_cpp INTERFACE ${LLAMA_FROM}/lib/libllama.a ${LLAMA_FROM}/lib/libggml.a
  ${LLAMA_FROM}/lib/libggml-cpu.a ${LLAMA_FROM}/lib/libggml-base.a Threads::Threads ${CMAKE_DL_LIBS} m)

# plimsoll_json_schema: from the same package, what turns a JSON schema into a grammar. The JSON type of the Jinja engine
# is its own; the few helpers that it takes from the rest of llama.cpp's tools are given here.
set(SCHEMA_FROM ${ASSETS}/json-schema/common)
set(SCHEMA_INTO ${PROJECT_BINARY_DIR}/json-schema)
foreach(FILE json-schema-to-grammar.cpp json-schema-to-grammar.h json-schema.cpp json-schema.h trie.cpp trie.h)
  if(NOT EXISTS ${SCHEMA_FROM}/${FILE})
    message(FATAL_ERROR "${SCHEMA_FROM}/${FILE} is missing. Run `tools/setup assets`.")
  endif()
  configure_file(${SCHEMA_FROM}/${FILE} ${SCHEMA_INTO}/${FILE} COPYONLY)
endforeach()
file(WRITE ${SCHEMA_INTO}/changed "#pragma once
#include <sstream>
#include <string>
#include <vector>
inline std::string string_repeat(const std::string & text, size_t times) {
    std::string result;
    while (times-- > 0) result += text;
    return result;
}
inline std::string string_join(const std::vector<std::string> & parts, const std::string & between) {
    std::string result;
    for (size_t i = 0; i < parts.size(); ++i) result += (i == 0 ? std::string() : between) + parts[i];
    return result;
}
inline std::vector<std::string> string_split(const std::string & text, const std::string & at) {
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end; (end = text.find(at, begin)) != std::string::npos; begin = end + at.size())
        parts.push_back(text.substr(begin, end - begin));
    parts.push_back(text.substr(begin));
    return parts;
}
")
configure_file(${SCHEMA_INTO}/changed ${SCHEMA_INTO}/common.h COPYONLY)
add_library(plimsoll_json_schema STATIC ${SCHEMA_INTO}/json-schema-to-grammar.cpp ${SCHEMA_INTO}/json-schema.cpp
  ${SCHEMA_INTO}/trie.cpp)
target_include_directories(plimsoll_json_schema SYSTEM PUBLIC ${SCHEMA_INTO})
target_compile_options(plimsoll_json_schema PRIVATE -w $<$<CONFIG:Release>:-O1>)
target_link_libraries(plimsoll_json_schema PUBLIC plimsoll_jinja PRIVATE nlohmann_json::nlohmann_json)
