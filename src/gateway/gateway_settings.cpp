#include "gateway/gateway_settings.hpp"

#include <array>
#include <string_view>

namespace plimsoll::gateway {
namespace {

constexpr std::string_view words_without_store[] = {"refuse", "last_known"};

}  // namespace

std::span<const base::Setting> gateway_settings() {
  static const std::array declared{
      base::Setting{"listen", "", base::Text{&GatewaySettings::listen},
                    "Address and port that the gateway listens on."},
      base::Setting{"open_to_all", "", base::Flag{&GatewaySettings::open_to_all},
                    "Listen on other addresses than loopback even if there are no API keys."},
      base::Setting{
          "cors_origins", "", base::Names{&GatewaySettings::cors_origins},
          "Origins of web pages that may use the gateway from a browser, such as https://app.example; * "
          "allows all."},
      base::Setting{"limits_without_store", "",
                    base::choice(&GatewaySettings::limits_without_store, words_without_store),
                    "What happens to requests of keys with limits while the server in store is away: refuse "
                    "answers 503; "
                    "last_known lets each gateway count for itself, so that together they may allow more."},
      base::Setting{"alert_webhook", "", base::SecretText{&GatewaySettings::alert_webhook},
                    "URL that budget alerts are posted to. Never shown."},
      base::Setting{"tls_certificate_file", "", base::Path{&GatewaySettings::tls_certificate_file},
                    "TLS certificate chain of the gateway in PEM format; empty: plain HTTP."},
      base::Setting{"tls_key_file", "", base::Path{&GatewaySettings::tls_key_file},
                    "Private key of the TLS certificate in PEM format."},
      base::Setting{"io_threads", "", base::Whole{&GatewaySettings::io_threads, 0, 256},
                    "Threads for network I/O; 0: one per core, at most 4."},
      base::Setting{"worker_threads", "", base::Whole{&GatewaySettings::worker_threads, 0, 256},
                    "Threads that count, search and plan larger requests; 0: one per core."},
      base::Setting{"max_connections", "", base::Whole{&GatewaySettings::max_connections, 1, 1'000'000},
                    "Most client connections at once; further clients get 503 with Retry-After."},
      base::Setting{"max_request_bytes", "",
                    base::Whole{&GatewaySettings::max_request_bytes, 1'024, std::int64_t{1} << 40},
                    "Largest request body in bytes; larger requests are refused before they are read."},
      base::Setting{"max_memory", "", base::Whole{&GatewaySettings::max_memory, 1'024, std::int64_t{1} << 50},
                    "Bytes of memory for all running requests, estimated as five times their bodies and "
                    "twice their long "
                    "answers; above it, clients get 503 with Retry-After."},
      base::Setting{"max_answer_bytes", "",
                    base::Whole{&GatewaySettings::max_answer_bytes, 1'024, std::int64_t{1} << 40},
                    "Largest answer of an upstream in bytes, if it is not streamed."},
      base::Setting{"request_timeout_seconds", "",
                    base::Real{&GatewaySettings::request_timeout_seconds, 0.1, 86'400},
                    "Time limit in seconds for a whole request."},
      base::Setting{"first_byte_timeout_seconds", "",
                    base::Real{&GatewaySettings::first_byte_timeout_seconds, 0.1, 86'400},
                    "Seconds that an upstream may take to start its answer."},
      base::Setting{"idle_timeout_seconds", "",
                    base::Real{&GatewaySettings::idle_timeout_seconds, 0.1, 86'400},
                    "Seconds that a client or an upstream may be silent during a request."},
      base::Setting{"kaito_compat", "", base::Flag{&GatewaySettings::kaito_compat},
                    "Answer exactly as RAGEngine does where the gateway differs by default "
                    "(docs/migrate-from-kaito.md)."},
      base::Setting{"console", "", base::Flag{&GatewaySettings::console},
                    "Serve the web console at / to browsers; false: JSON only."},
      base::Setting{"max_upload_jobs", "", base::Whole{&GatewaySettings::max_upload_jobs, 1, 100'000},
                    "Most uploads waiting or running at once; one key may hold as many as remain free."},
      base::Setting{"max_upload_bytes", "",
                    base::Whole{&GatewaySettings::max_upload_bytes, 1'024, std::int64_t{1} << 40},
                    "Most bytes of uploads waiting or running at once."},
      base::Setting{"max_evaluation_runs", "", base::Whole{&GatewaySettings::max_evaluation_runs, 1, 1'000},
                    "Most evaluations running at once; one key may hold as many as remain free."},
      base::Setting{"max_evaluation_questions", "",
                    base::Whole{&GatewaySettings::max_evaluation_questions, 1, 100'000},
                    "Most questions in one evaluation."},
      base::Setting{"evaluation_question_seconds", "",
                    base::Real{&GatewaySettings::evaluation_question_seconds, 0.1, 86'400},
                    "Time limit in seconds for one question of an evaluation."},
  };
  return declared;
}

}  // namespace plimsoll::gateway
