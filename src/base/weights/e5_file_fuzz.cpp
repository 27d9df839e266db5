#include "base/weights/e5_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = base::read_e5_file(bytes);
  if (!file) return file.error().what.empty() ? (__builtin_trap(), 0) : 0;
  const auto is_inside = [&](std::string_view part) {
    return part.empty() || (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + size);
  };
  for (const base::E5Piece& piece : file->pieces)
    if (!is_inside(piece.text)) __builtin_trap();
  for (const base::E5Tensor& tensor : file->tensors)
    if (!is_inside(tensor.contents) || !is_inside(tensor.name)) __builtin_trap();
  return 0;
}
