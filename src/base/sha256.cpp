#include "base/sha256.hpp"

#include <array>
#include <span>

#include <openssl/evp.h>

namespace plimsoll::base {
namespace {

using Digest = std::array<unsigned char, 32>;

// Looked up once: EVP_sha256() is looked up again for each digest.
const EVP_MD* sha256() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}

std::string hex_of(const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context_.get(), sha256(), nullptr);
}

Sha256::Sha256(const Sha256& other) : context_(EVP_MD_CTX_new()) {
  EVP_MD_CTX_copy_ex(context_.get(), other.context_.get());
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) *this = Sha256(other);
  return *this;
}

void Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

std::string Sha256::hex() const {
  const Sha256 copy(*this);
  Digest digest{};
  EVP_DigestFinal_ex(copy.context_.get(), digest.data(), nullptr);
  return hex_of(digest);
}

std::string sha256_hex(std::string_view bytes) {
  Digest digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, sha256(), nullptr);
  return hex_of(digest);
}

}  // namespace plimsoll::base
