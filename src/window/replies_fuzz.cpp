// Any bytes as the reply of any server, and as a model's file: figures in range or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "plimsoll/window.hpp"

namespace {

using plimsoll::ReportedModel;

void check(const ReportedModel& model) {
  for (const plimsoll::Tokens figure : {model.served, model.maximum, model.max_output})
    if (figure < 0 || figure > plimsoll::largest_served_window) std::abort();
  if (model.served > 0 && model.served_by.empty()) std::abort();
  if (model.problem.size() > 2000) std::abort();
}

void check(const std::vector<ReportedModel>& models) {
  for (const ReportedModel& model : models) {
    if (model.name.empty() || plimsoll::find_served(models, model.name) == nullptr) std::abort();
    check(model);
  }
}

template <typename Read>
void check(const plimsoll::Result<Read>& result) {
  if (result)
    check(*result);
  else if (result.error().what.empty())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  for (const plimsoll::ServerKind kind : plimsoll::all_server_kinds()) {
    check(plimsoll::read_models(kind, reply));
    check(plimsoll::read_model(kind, reply));
    check(plimsoll::read_loaded(kind, reply));
    static_cast<void>(plimsoll::answers_as(kind, reply));
  }
  static_cast<void>(plimsoll::recognise_by_models(reply));
  check(plimsoll::read_gguf_model(reply));
  return 0;
}
