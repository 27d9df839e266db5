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

# plimsoll_together(TARGET SOURCES...): where PLIMSOLL_UNITY is on, compiles up to 25 sources of a target as one: the headers that they
# share are read once, which takes most of the time of a file alone. Names in unnamed namespaces must therefore be
# unique within a room, and within its tests. Sources with options of their own are compiled alone.
# The paths are relative, which CMake's own unity builds cannot do: another clone finds the results in the compiler's cache.
function(plimsoll_together TARGET)
  if(NOT PLIMSOLL_UNITY)
    target_sources(${TARGET} PRIVATE ${ARGN})
    return()
  endif()
  set(TOGETHER "")
  foreach(FILE ${ARGN})
    get_source_file_property(OPTIONS ${FILE} COMPILE_OPTIONS)
    get_source_file_property(ALONE ${FILE} SKIP_UNITY_BUILD_INCLUSION)
    if(OPTIONS OR ALONE)
      target_sources(${TARGET} PRIVATE ${FILE})
    else()
      file(REAL_PATH ${FILE} FILE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      file(RELATIVE_PATH FILE ${PROJECT_SOURCE_DIR} ${FILE})
      list(APPEND TOGETHER ${FILE})
    endif()
  endforeach()
  list(LENGTH TOGETHER FILES)
  math(EXPR UNITS "(${FILES} + 24) / 25")
  math(EXPR UNIT 0)
  while(UNIT LESS UNITS)
    math(EXPR FROM "${FILES} * ${UNIT} / ${UNITS}")
    math(EXPR COUNT "${FILES} * (${UNIT} + 1) / ${UNITS} - ${FROM}")
    list(SUBLIST TOGETHER ${FROM} ${COUNT} PART)
    list(TRANSFORM PART REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN PART "" PART)
    set(INTO ${CMAKE_CURRENT_BINARY_DIR}/unity/${TARGET}_${UNIT}.cpp)
    file(CONFIGURE OUTPUT ${INTO} CONTENT "${PART}" @ONLY)
    target_sources(${TARGET} PRIVATE ${INTO})
    math(EXPR UNIT "${UNIT} + 1")
  endwhile()
  target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR})
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

  add_library(plimsoll_${NAME} STATIC)
  add_library(plimsoll::${NAME} ALIAS plimsoll_${NAME})
  plimsoll_together(plimsoll_${NAME} ${ROOM_SOURCES})
  target_include_directories(plimsoll_${NAME} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(plimsoll_${NAME} PUBLIC plimsoll::api ${ROOM_DEPENDS}
    PRIVATE $<BUILD_INTERFACE:plimsoll_warnings> ${ROOM_PRIVATE})
  if(ROOM_LEVEL)
    target_compile_options(plimsoll_${NAME} PRIVATE $<$<CONFIG:Release>:-O${ROOM_LEVEL}>)
  endif()

  if(PLIMSOLL_TESTS)
    if(ROOM_TESTS)
      add_executable(${NAME}_test)
      plimsoll_together(${NAME}_test ${ROOM_TESTS})
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
