// Whether this is a sanitizer build, which is about ten times slower: tests with many random cases
// run fewer.
#pragma once

namespace plimsoll::base {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

constexpr int cases(int usual) {
  return sanitized && usual >= 8 ? usual / 8 : usual;
}

}  // namespace plimsoll::base
