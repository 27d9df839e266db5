// TLS for client connections.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// TLS 1.2 with ECDHE and AEAD ciphers, and 1.3. `certificate`: PEM chain;
// `key`: PEM. bad_setting: the error names the invalid file and the reason.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::string& certificate,
                                                            const std::string& key);

}  // namespace plimsoll::gateway
