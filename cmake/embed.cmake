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

# plimsoll_embed_folder(TARGET FOLDER SYMBOL): every file below a folder, compressed with gzip, as
#   std::span<const EmbeddedFile> plimsoll::data::SYMBOL();
# sorted by path. Declared in a generated SYMBOL.hpp. The tag is the beginning of the file's SHA-256.
function(plimsoll_embed_folder TARGET FOLDER SYMBOL)
  set(DIR ${PROJECT_BINARY_DIR}/embedded)
  file(GLOB_RECURSE FILES RELATIVE ${FOLDER} CONFIGURE_DEPENDS ${FOLDER}/*)
  list(SORT FILES)
  set(ARRAYS "")
  set(ENTRIES "")
  set(NUMBER 0)
  foreach(FILE ${FILES})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FOLDER}/${FILE})
    file(SHA256 ${FOLDER}/${FILE} HASH)
    string(SUBSTRING ${HASH} 0 16 TAG)
    file(SIZE ${FOLDER}/${FILE} SIZE)
    file(ARCHIVE_CREATE OUTPUT ${DIR}/packed.gz PATHS ${FOLDER}/${FILE} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
    file(READ ${DIR}/packed.gz HEX HEX)
    # Bytes 4 to 7 of gzip's header are the time of compression.
    string(SUBSTRING "${HEX}" 0 8 BEFORE)
    string(SUBSTRING "${HEX}" 16 -1 AFTER)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," BYTES "${BEFORE}00000000${AFTER}")
    string(APPEND ARRAYS "constexpr unsigned char file_${NUMBER}[] = {${BYTES}};\n")
    string(APPEND ENTRIES "    {\"${FILE}\", \"${TAG}\", view_of(file_${NUMBER}), ${SIZE}},\n")
    math(EXPR NUMBER "${NUMBER} + 1")
  endforeach()
  file(REMOVE ${DIR}/packed.gz)
  file(CONFIGURE OUTPUT ${DIR}/data/${SYMBOL}.hpp @ONLY CONTENT
"#pragma once
#include <cstddef>
#include <span>
#include <string_view>
namespace plimsoll::data {
struct EmbeddedFile {
  std::string_view path, tag, packed;
  std::size_t bytes;
};
std::span<const EmbeddedFile> @SYMBOL@();
}
")
  file(CONFIGURE OUTPUT ${DIR}/${SYMBOL}.cpp @ONLY CONTENT
"#include \"data/@SYMBOL@.hpp\"
namespace plimsoll::data {
namespace {
template <std::size_t Size>
std::string_view view_of(const unsigned char (&bytes)[Size]) {
  return {reinterpret_cast<const char*>(bytes), Size};
}
@ARRAYS@}
std::span<const EmbeddedFile> @SYMBOL@() {
  static const EmbeddedFile files[] = {
@ENTRIES@  };
  return files;
}
}
")
  target_sources(${TARGET} PRIVATE ${DIR}/${SYMBOL}.cpp)
  target_include_directories(${TARGET} PUBLIC $<BUILD_INTERFACE:${DIR}>)
endfunction()
