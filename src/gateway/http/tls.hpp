// TLS towards clients.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// TLS 1.2 with ECDHE and AEAD ciphers, and 1.3. `certificate`: PEM, with those between it and its authority;
// `key`: PEM. bad_setting names the file that will not do, and why.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::string& certificate,
                                                            const std::string& key);

}  // namespace plimsoll::gateway
