# plimsoll_embed(TARGET FILE SYMBOL): the bytes of a data file as
#   extern const std::string_view plimsoll::data::SYMBOL;
# so that the one binary needs no files beside it. Declared in a generated SYMBOL.hpp.
function(plimsoll_embed TARGET FILE SYMBOL)
  set(DIR ${PROJECT_BINARY_DIR}/embedded)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FILE})
  file(READ ${FILE} CONTENT)
  file(CONFIGURE OUTPUT ${DIR}/data/${SYMBOL}.hpp @ONLY CONTENT
"#pragma once
#include <string_view>
namespace plimsoll::data {
extern const std::string_view @SYMBOL@;
}
")
  # A string literal may have at most 64 KiB by the standard; pieces of 8,000 bytes join into one array.
  string(LENGTH "${CONTENT}" LENGTH)
  set(LITERALS "")
  set(AT 0)
  while(AT LESS LENGTH)
    string(SUBSTRING "${CONTENT}" ${AT} 8000 PIECE)
    string(APPEND LITERALS "R\"~plimsoll~(${PIECE})~plimsoll~\"\n")
    math(EXPR AT "${AT} + 8000")
  endwhile()
  file(CONFIGURE OUTPUT ${DIR}/${SYMBOL}.cpp @ONLY CONTENT
"#include \"data/@SYMBOL@.hpp\"
namespace plimsoll::data {
const std::string_view @SYMBOL@ = @LITERALS@;
}
")
  target_sources(${TARGET} PRIVATE ${DIR}/${SYMBOL}.cpp)
  target_include_directories(${TARGET} PRIVATE ${DIR})
endfunction()
