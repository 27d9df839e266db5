# plimsoll_grammars: the tree-sitter grammars (MIT) that set-up brought, compiled as one static library. Together
# they take about 8 s of one core. Their tables are data: more than -O1 only costs time.
#
# Debian's libtree-sitter 0.20 reads grammars of ABI 13 and 14; data/assets.toml pins versions that say 14.
get_filename_component(GRAMMAR_COMPILER "${CMAKE_CXX_COMPILER}" NAME)
if(NOT CMAKE_C_COMPILER AND GRAMMAR_COMPILER MATCHES "^clang")
  string(REPLACE "clang++" "clang" CMAKE_C_COMPILER "${CMAKE_CXX_COMPILER}")  # one vendor: sanitizers must match
endif()
enable_language(C)
set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})

set(GRAMMARS c cpp python javascript go rust java typescript/typescript typescript/tsx)
foreach(GRAMMAR ${GRAMMARS})
  set(FOLDER ${ASSETS}/grammar-${GRAMMAR}/src)
  if(NOT EXISTS ${FOLDER}/parser.c)
    message(FATAL_ERROR "A tree-sitter grammar is not set up: ${FOLDER}/parser.c is missing.\n"
      "Run `tools/setup assets`, or name the folder that it filled with -DPLIMSOLL_ASSETS=FOLDER.")
  endif()
  list(APPEND GRAMMAR_FILES ${FOLDER}/parser.c)
  if(EXISTS ${FOLDER}/scanner.c)
    list(APPEND GRAMMAR_FILES ${FOLDER}/scanner.c)
  endif()
endforeach()
add_library(plimsoll_grammars STATIC ${GRAMMAR_FILES})
foreach(FILE ${GRAMMAR_FILES})
  get_filename_component(FOLDER ${FILE} DIRECTORY)
  set_source_files_properties(${FILE} PROPERTIES INCLUDE_DIRECTORIES ${FOLDER})
endforeach()
target_compile_options(plimsoll_grammars PRIVATE -w -O1)
if(PLIMSOLL_SANITIZE MATCHES undefined)
  target_compile_options(plimsoll_grammars PRIVATE -fno-sanitize=undefined)
endif()
