// SHA-256, for checking what was fetched and naming what was stored.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace plimsoll::base {

class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256(Sha256&&) noexcept = default;
  Sha256& operator=(const Sha256& other);
  Sha256& operator=(Sha256&&) noexcept = default;
  ~Sha256() = default;

  void update(std::string_view bytes);

  // Returns the digest of everything given so far, as 64 lower-case hexadecimal digits. More may follow.
  std::string hex() const;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace plimsoll::base
