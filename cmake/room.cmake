# plimsoll_test(NAME_test LIBRARY...): makes a program of gtest's cases the test NAME, and a part of `unit_tests`.
# Where the tree stands is compiled into one file alone: what does not name it comes from the compiler's cache in any clone.
if(PLIMSOLL_TESTS)
  add_custom_target(unit_tests)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/source_dir.cpp @ONLY CONTENT
"#include \"base/source_dir.hpp\"
std::filesystem::path plimsoll::base::source_dir() { return \"@PROJECT_SOURCE_DIR@\"; }
")
  add_library(plimsoll_source_dir STATIC ${PROJECT_BINARY_DIR}/source_dir.cpp)
  target_include_directories(plimsoll_source_dir PRIVATE ${PROJECT_SOURCE_DIR}/src)
endif()
function(plimsoll_test TARGET)
  target_link_libraries(${TARGET} PRIVATE ${ARGN} plimsoll_source_dir plimsoll_warnings GTest::gtest GTest::gtest_main)
  if(PLIMSOLL_SANITIZE)
    target_compile_options(${TARGET} PRIVATE -O0)  # a test's own code runs once; compiling it would take most of the time
  endif()
  string(REGEX REPLACE "_test$" "" TEST ${TARGET})
  add_test(NAME ${TEST} COMMAND ${TARGET})
  add_dependencies(unit_tests ${TARGET})
endfunction()

# plimsoll_unity(TARGET SOURCES...): compiles up to 25 sources of a target together where PLIMSOLL_UNITY is on: the headers that they
# share are read once, which takes most of the time of a file alone. Names in unnamed namespaces must therefore be
# unique within a room, and within its tests.
function(plimsoll_unity TARGET)
  if(NOT PLIMSOLL_UNITY)
    return()
  endif()
  list(LENGTH ARGN FILES)
  math(EXPR UNITS "(${FILES} + 24) / 25")
  math(EXPR TOGETHER "(${FILES} + ${UNITS} - 1) / ${UNITS}")
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${TOGETHER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It takes a file that is included by another for a header, where types without linkage would be a mistake.
    target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# plimsoll_room(NAME SOURCES ... [TESTS ...] [SLOW_TESTS ...] [BENCHES ...] [FUZZERS ...] DEPENDS ...)
#
# One library per room, `plimsoll::NAME`, from the sources of the folder it is called in. Its tests
# become one executable, NAME_test; each slow test, bench and fuzzer its own. A room lists whom it knows in
# DEPENDS; tools/check_layers.py checks that its includes say the same.
# LEVEL is the compiler's level of optimisation: 3 where loops over text and vectors are, 1 where a request or a command
# passes once and nothing loops; 2 without it. Compiling takes two thirds of the time at 1, measured on the gateway.
function(plimsoll_room NAME)
  cmake_parse_arguments(ROOM "" "LEVEL" "SOURCES;TESTS;SLOW_TESTS;BENCHES;FUZZERS;DEPENDS;PRIVATE;TEST_DEPENDS" ${ARGN})

  add_library(plimsoll_${NAME} STATIC ${ROOM_SOURCES})
  add_library(plimsoll::${NAME} ALIAS plimsoll_${NAME})
  plimsoll_unity(plimsoll_${NAME} ${ROOM_SOURCES})
  target_include_directories(plimsoll_${NAME} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(plimsoll_${NAME} PUBLIC plimsoll::api ${ROOM_DEPENDS}
    PRIVATE $<BUILD_INTERFACE:plimsoll_warnings> ${ROOM_PRIVATE})
  if(ROOM_LEVEL)
    target_compile_options(plimsoll_${NAME} PRIVATE $<$<CONFIG:Release>:-O${ROOM_LEVEL}>)
  endif()

  if(PLIMSOLL_TESTS)
    if(ROOM_TESTS)
      add_executable(${NAME}_test ${ROOM_TESTS})
      plimsoll_unity(${NAME}_test ${ROOM_TESTS})
    endif()
    foreach(FILE ${ROOM_SLOW_TESTS})
      get_filename_component(TARGET ${FILE} NAME_WE)
      add_executable(${NAME}_${TARGET} ${FILE})
      list(APPEND ROOM_SLOW ${NAME}_${TARGET})
    endforeach()
    foreach(TARGET ${NAME}_test ${ROOM_SLOW})
      if(TARGET ${TARGET})
        plimsoll_test(${TARGET} plimsoll::${NAME} ${ROOM_TEST_DEPENDS})
      endif()
    endforeach()
  endif()

  if(PLIMSOLL_BENCHES)
    foreach(FILE ${ROOM_BENCHES})
      get_filename_component(TARGET ${FILE} NAME_WE)
      add_executable(${TARGET} ${FILE})
      target_link_libraries(${TARGET} PRIVATE plimsoll::${NAME} plimsoll_warnings benchmark::benchmark_main)
    endforeach()
  endif()

  if(PLIMSOLL_FUZZ)
    target_compile_options(plimsoll_${NAME} PRIVATE -fsanitize=fuzzer-no-link)
    foreach(FILE ${ROOM_FUZZERS})
      get_filename_component(TARGET ${FILE} NAME_WE)
      add_executable(${TARGET} ${FILE})
      target_link_libraries(${TARGET} PRIVATE plimsoll::${NAME} plimsoll_warnings)
      target_link_options(${TARGET} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()
