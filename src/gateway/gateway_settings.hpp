// Settings of the gateway: where it listens, and its limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "base/settings/setting.hpp"

namespace plimsoll::gateway {

// What happens to requests of keys with limits while the store that shares the limits is away.
enum class WithoutStore : std::uint8_t {
  refuse,      // 503
  last_known,  // this gateway counts on for itself
};

struct GatewaySettings {
  std::string listen = "127.0.0.1:8000";
  bool open_to_all = false;               // listen beyond loopback even without keys
  std::vector<std::string> cors_origins;  // web pages that may read answers; empty: none
  WithoutStore limits_without_store = WithoutStore::refuse;
  base::Secret alert_webhook;                  // a URL; secret, as it may contain a token
  std::filesystem::path tls_certificate_file;  // empty: plain HTTP
  std::filesystem::path tls_key_file;
  std::int64_t io_threads = 0;      // 0: depends on the number of cores
  std::int64_t worker_threads = 0;  // 0: one per core
  std::int64_t max_connections = 4'096;
  std::int64_t max_request_bytes = std::int64_t{32} << 20;
  std::int64_t max_memory = std::int64_t{2} << 30;  // of running requests, at five times their bodies
  std::int64_t max_answer_bytes = std::int64_t{64} << 20;
  double request_timeout_seconds = 600;     // for a whole request
  double first_byte_timeout_seconds = 300;  // local models are slow to start
  double idle_timeout_seconds = 60;         // between two reads from a client or an upstream
  bool kaito_compat = false;                // answer as RAGEngine does where we differ by default
  bool console = true;                      // the web page at /
  std::int64_t max_upload_jobs = 32;
  std::int64_t max_upload_bytes = std::int64_t{256} << 20;
  std::int64_t max_evaluation_runs = 8;
  std::int64_t max_evaluation_questions = 200;
  double evaluation_question_seconds = 300;
};

// Their names, allowed values and meanings.
std::span<const base::Setting> gateway_settings();

}  // namespace plimsoll::gateway
