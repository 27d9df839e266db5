#include "adapters/http/curl_client.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include <curl/curl.h>

#include "adapters/http/url.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::adapters {
namespace {

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

// Once for the process; libcurl's own once is not safe from many threads everywhere.
bool libcurl_is_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

// What messages may show of an address: no user, no password, no query.
struct Address {
  std::string shown;  // "http://host:8080/v1/models"
  std::string host;
};

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK || text == nullptr) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

Result<Address> address_of(const std::string& text) {
  const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  if (has_control(text) || text.find(' ') != std::string::npos ||
      curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
    return fail(Errc::bad_input, "the address of the server is not one that can be asked");
  const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
  Address address{{}, part_of(url.get(), CURLUPART_HOST)};
  if ((scheme != "http" && scheme != "https") || address.host.empty())
    return fail(Errc::bad_input, "only http:// and https:// addresses can be asked");
  const std::string port = part_of(url.get(), CURLUPART_PORT);
  address.shown = fmt::format("{}://{}{}{}{}", scheme, address.host, port.empty() ? "" : ":", port,
                              part_of(url.get(), CURLUPART_PATH));
  return address;
}

bool is_this_machine(std::string host) {
  host = base::to_lower_ascii(host);
  if (host.ends_with('.')) host.pop_back();
  if (host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
}

Result<HeaderList> header_list(const HttpRequest& request) {
  HeaderList list;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return false;
    if (list.get() != longer) list.reset(longer);  // the first line makes the list
    return true;
  };
  for (const HttpHeader& header : request.headers) {
    if (header.name.empty() || header.name.find_first_of(": \t") != std::string::npos ||
        has_control(header.name) || has_control(header.value))
      return fail(Errc::bad_input, "the header '{}' cannot be sent",
                  has_control(header.name) ? "?" : header.name);
    // An empty value would take the header away; with ';' libcurl sends it empty.
    const bool empty = header.value.empty();
    if (!add(header.name + (empty ? ";" : ": ") + header.value))
      return fail(Errc::io_failed, "out of memory");
  }
  if (!add("Expect:")) return fail(Errc::io_failed, "out of memory");
  return list;
}

// What a transfer has received so far, and why it was stopped, if we did it.
struct Incoming {
  HttpLimits limits;
  HttpReply reply;
  std::size_t header_bytes = 0;
  bool body_too_long = false;
  bool header_too_long = false;
};

std::size_t take_body(char* data, std::size_t one, std::size_t size, void* user) {
  auto& incoming = *static_cast<Incoming*>(user);
  if (size > incoming.limits.body_limit_bytes - incoming.reply.body.size()) {
    incoming.body_too_long = true;
    return 0;
  }
  incoming.reply.body.append(data, one * size);
  return size;
}

std::size_t take_header(char* /*data*/, std::size_t one, std::size_t size, void* user) {
  auto& incoming = *static_cast<Incoming*>(user);
  incoming.header_bytes += one * size;
  if (incoming.header_bytes <= incoming.limits.header_limit_bytes) return size;
  incoming.header_too_long = true;
  return 0;
}

// "2 s", "0.5 s"
std::string seconds(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1000);
}

Error error_of(CURLcode code, const Incoming& incoming, const Address& address, const char* details,
               std::chrono::milliseconds patience) {
  const std::string_view said = *details != '\0' ? details : curl_easy_strerror(code);
  const auto make = [&](Errc errc, std::string what) {
    return Error{errc, fmt::format("{}: {}", address.shown, what)};
  };
  if (incoming.body_too_long || code == CURLE_FILESIZE_EXCEEDED)
    return make(Errc::upstream_failed, fmt::format("the reply is longer than {}",
                                                   base::human_bytes(incoming.limits.body_limit_bytes)));
  if (incoming.header_too_long)
    return make(Errc::upstream_failed, fmt::format("the reply's header is longer than {}",
                                                   base::human_bytes(incoming.limits.header_limit_bytes)));
  switch (code) {
    case CURLE_ABORTED_BY_CALLBACK:
      return make(Errc::unreachable, "not asked to the end: this program stops");
    case CURLE_OPERATION_TIMEDOUT:
      return make(Errc::timed_out, fmt::format("no whole reply within {}", seconds(patience)));
    case CURLE_COULDNT_RESOLVE_HOST: return make(Errc::unreachable, "no address is known for its name");
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return make(Errc::unreachable, "the proxy of the environment cannot be used");
    case CURLE_COULDNT_CONNECT: return make(Errc::unreachable, "nobody answers there (connection refused)");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return make(Errc::unreachable, fmt::format("its certificate was refused ({})", said));
    case CURLE_SSL_CONNECT_ERROR: return make(Errc::unreachable, fmt::format("no TLS connection ({})", said));
    case CURLE_GOT_NOTHING: return make(Errc::upstream_failed, "the server closed without a reply");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return make(Errc::upstream_failed, "the reply broke off");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY: return make(Errc::upstream_failed, "what came back is no HTTP");
    default: return make(Errc::upstream_failed, std::string(said));
  }
}

void set_target(CURL* easy, const HttpRequest& request, const Address& address, curl_slist* headers) {
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  if (is_this_machine(address.host)) curl_easy_setopt(easy, CURLOPT_PROXY, "");
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (request.method == "POST" || !request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_trust(CURL* easy, const std::string& agent, const std::string& certificates) {
  curl_easy_setopt(easy, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!certificates.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, certificates.c_str());
}

// Without QUICK_EXIT libcurl waits for a name server that does not answer, far past the timeout.
void set_patience(CURL* easy, std::chrono::milliseconds patience) {
  const auto milliseconds = static_cast<long>(patience.count());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
}

// libcurl calls this about once a second while it waits.
int is_stopped(void* stopped, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool>*>(stopped) ? 1 : 0;
}

void set_stop(CURL* easy, std::atomic<bool>& stopped) {
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, is_stopped);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &stopped);
}

void set_incoming(CURL* easy, Incoming& incoming, char* details) {
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, details);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &incoming);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &incoming);
  curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
                   static_cast<curl_off_t>(incoming.limits.body_limit_bytes));
}

}  // namespace

// Handles that are free, the last used first: its connection is the likeliest to be still open. A handle
// belongs to one thread while it is out.
class CurlClient::Pool {
 public:
  explicit Pool(std::size_t most) : most_(most) {}

  Easy take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Easy easy = std::move(idle_.back());
        idle_.pop_back();
        return easy;
      }
    }
    return Easy(curl_easy_init());
  }

  void give_back(Easy easy) {
    curl_easy_reset(easy.get());  // options go, connections stay
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_) idle_.push_back(std::move(easy));
  }

 private:
  std::size_t most_;
  std::mutex mutex_;
  std::vector<Easy> idle_;
};

CurlClient::CurlClient(std::string agent, std::string certificates, HttpLimits limits)
    : agent_(std::move(agent)),
      certificates_(std::move(certificates)),
      limits_(limits),
      pool_(std::make_unique<Pool>(limits.idle_connections)) {}

CurlClient::~CurlClient() = default;

Result<HttpReply> CurlClient::send(const HttpRequest& request, Deadline deadline) {
  if (!libcurl_is_ready()) return fail(Errc::io_failed, "libcurl could not be started");
  TRY(const Address address, address_of(request.url));
  TRY(const HeaderList headers, header_list(request));
  // Rounded up: 0 would mean no limit at all.
  const auto patience = std::min(std::chrono::ceil<std::chrono::milliseconds>(deadline.left()),
                                 std::chrono::milliseconds(std::chrono::hours(24)));
  if (stopped_) return fail(Errc::unreachable, "{}: not asked: this program stops", address.shown);
  if (patience <= std::chrono::milliseconds::zero())
    return fail(Errc::timed_out, "{}: no time was left to ask", address.shown);
  Easy easy = pool_->take();
  if (!easy) return fail(Errc::io_failed, "libcurl could not be started");

  Incoming incoming{.limits = limits_, .reply = {}};
  std::array<char, CURL_ERROR_SIZE> details{};
  set_target(easy.get(), request, address, headers.get());
  set_trust(easy.get(), agent_, certificates_);
  set_patience(easy.get(), patience);
  set_stop(easy.get(), stopped_);
  set_incoming(easy.get(), incoming, details.data());
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) {
    // The handle goes with its connections: who knows what is still under way on them.
    return tl::unexpected(error_of(code, incoming, address, details.data(), patience));
  }
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  char* location = nullptr;
  curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &location);
  incoming.reply.status = static_cast<int>(status);
  if (location != nullptr) incoming.reply.location = location;
  pool_->give_back(std::move(easy));
  return std::move(incoming.reply);
}

}  // namespace plimsoll::adapters
