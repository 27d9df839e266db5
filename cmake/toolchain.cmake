# What every target of ours is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# -O3 takes a sixth longer to compile; rooms for which it pays ask for it (LEVEL in room.cmake).
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(CCACHE ccache)
if(CCACHE)
  # Paths are taken relative to the tree, so that a second clone finds what the first one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true ${CCACHE})
endif()

# Warnings apply to our own code only; what set-up brought is compiled as its authors left it.
add_library(plimsoll_warnings INTERFACE)
set(SHADOWS -Wshadow)
if(PLIMSOLL_UNITY)
  # Not of names in another file that is compiled together with this one.
  set(SHADOWS $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
target_compile_options(plimsoll_warnings INTERFACE -Wall -Wextra -Wconversion ${SHADOWS} -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 sees overlaps and uninitialised strings in inlined std::string and std::optional, and wrong deletes in
  # coroutines, that are not there; the sanitizers look for the real ones.
  target_compile_options(plimsoll_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
endif()

if(PLIMSOLL_SANITIZE)
  add_compile_options(-fsanitize=${PLIMSOLL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PLIMSOLL_SANITIZE})
endif()
