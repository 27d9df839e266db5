// TRY(auto x, f());   declares x from f()'s value, or returns f()'s error from the enclosing function.
// TRY_VOID(f());      the same for a Result<void>.
#pragma once

#include "plimsoll/result.hpp"

#define PLIMSOLL_CONCAT_(a, b) a##b
#define PLIMSOLL_CONCAT(a, b) PLIMSOLL_CONCAT_(a, b)
#define PLIMSOLL_TRY_(temporary, declaration, expression)                                 \
  auto temporary = (expression);                                                          \
  if (!temporary) return tl::unexpected<::plimsoll::Error>(std::move(temporary).error()); \
  declaration = *std::move(temporary)
#define TRY(declaration, ...) PLIMSOLL_TRY_(PLIMSOLL_CONCAT(try_, __COUNTER__), declaration, (__VA_ARGS__))
#define TRY_VOID(...)                               \
  if (auto try_result = (__VA_ARGS__); !try_result) \
  return tl::unexpected<::plimsoll::Error>(std::move(try_result).error())

// The same inside a coroutine.
#define PLIMSOLL_CO_TRY_(temporary, declaration, expression)                                 \
  auto temporary = (expression);                                                             \
  if (!temporary) co_return tl::unexpected<::plimsoll::Error>(std::move(temporary).error()); \
  declaration = *std::move(temporary)
#define CO_TRY(declaration, ...) \
  PLIMSOLL_CO_TRY_(PLIMSOLL_CONCAT(try_, __COUNTER__), declaration, (__VA_ARGS__))
#define CO_TRY_VOID(...)                            \
  if (auto try_result = (__VA_ARGS__); !try_result) \
  co_return tl::unexpected<::plimsoll::Error>(std::move(try_result).error())
