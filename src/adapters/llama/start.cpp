#include "adapters/llama/start.hpp"

#include <mutex>

#include <llama.h>

#include "base/log.hpp"
#include "base/text/text.hpp"

namespace plimsoll::llama {
namespace {

class LastWords {
 public:
  void take(std::string_view text) {
    const std::lock_guard lock(mutex_);
    said_ = base::trim(text);
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_.empty() ? std::string("llama.cpp does not say why") : said_;
  }

 private:
  std::mutex mutex_;
  std::string said_;
};

LastWords& words_of_llama() {
  static LastWords words;
  return words;
}

void take_log(ggml_log_level level, const char* text, void* /*data*/) {
  if (level == GGML_LOG_LEVEL_ERROR) words_of_llama().take(text);
  if (level != GGML_LOG_LEVEL_CONT) log::trace("llama.cpp", {{"says", base::trim(text)}});
}

}  // namespace

Result<void> check_processor() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    return fail(Errc::unsupported,
                "the embedded model needs a processor with AVX2, FMA and BMI2; use --upstream instead");
#endif
  return {};
}

void start_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(take_log, nullptr);
    llama_backend_init();
  });
}

std::string last_words() {
  return words_of_llama().said();
}

void forget_last_words() {
  words_of_llama().take({});
}

}  // namespace plimsoll::llama
