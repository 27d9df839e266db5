// How a store is opened.
#pragma once

namespace plimsoll::sqlite {

struct OpenOptions {
  bool create = true;  // false: not_found where there is no file
};

}  // namespace plimsoll::sqlite
