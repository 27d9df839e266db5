// Any form: parsed within bounds; and the parts of a generated form are read back.
#include <cstdlib>

#include "gateway/http/multipart.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::gateway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find('\n');
  const std::string_view type = text.substr(0, cut), body = cut < size ? text.substr(cut + 1) : "";
  for (const std::string& content_type :
       {std::string(type), std::string("multipart/form-data; boundary=b")}) {
    const auto parts = read_multipart(content_type, body, {.parts = 20, .header_bytes = 200});
    if (!parts) continue;
    if (parts->size() > 20) std::abort();
    const char* last = body.data();
    for (const FormPart& part : *parts) {
      if (part.body.data() < last || part.body.data() + part.body.size() > body.data() + body.size())
        std::abort();
      last = part.body.data() + part.body.size();
      if (part.filename && part.filename->size() > 200) std::abort();
    }
  }
  if (body.find("--b") != std::string_view::npos) return 0;
  const std::string form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n" +
                           std::string(body) + "\r\n--b--\r\n";
  const auto parts = read_multipart("multipart/form-data; boundary=b", form);
  if (!parts || parts->size() != 1 || parts->front().body != body) std::abort();
  return 0;
}
