# Writes the commit of the sources into OUTPUT, a header. Run at each build: cmake -DSOURCE=... -DOUTPUT=... -P commit.cmake
# An archive of the sources has no commit.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude=*
  OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE FAILED)
if(FAILED OR COMMIT STREQUAL "")
  set(COMMIT "unknown")
endif()
# Only written if it changed, so that nothing is compiled again for nothing.
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\nnamespace plimsoll {\ninline constexpr const char* source_commit = \"@COMMIT@\";\n}\n" @ONLY)
