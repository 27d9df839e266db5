#include "base/text/trace_context.hpp"

#include <algorithm>
#include <charconv>
#include <random>
#include <set>

#include <fmt/format.h>

#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

constexpr std::size_t most_members = 32, longest_key = 256, longest_value = 256;
constexpr unsigned known_flags = 0b11;  // sampled, and made at random

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

unsigned number_of_hex(std::string_view text) {
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "vendor", or "tenant@vendor"
bool is_key(std::string_view key) {
  if (key.empty() || key.size() > longest_key || !(is_small(key[0]) || is_digit(key[0]))) return false;
  const auto is_inner = [](char c) {
    return is_small(c) || is_digit(c) || c == '_' || c == '-' || c == '*' || c == '/';
  };
  const std::size_t at = key.find('@');
  if (at == std::string_view::npos) return is_small(key[0]) && std::ranges::all_of(key, is_inner);
  const std::string_view tenant = key.substr(0, at), vendor = key.substr(at + 1);
  return tenant.size() <= 241 && !vendor.empty() && vendor.size() <= 14 && is_small(vendor[0]) &&
         std::ranges::all_of(tenant, is_inner) && std::ranges::all_of(vendor, is_inner);
}

bool is_value(std::string_view value) {
  return !value.empty() && value.size() <= longest_value && value.back() != ' ' &&
         std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

bool is_state(std::string_view state) {
  std::set<std::string_view> keys;
  while (true) {
    const std::size_t comma = state.find(',');
    std::string_view member = state.substr(0, comma);
    const std::size_t begin = member.find_first_not_of(" \t");
    if (begin != std::string_view::npos) {  // empty members are allowed
      member = member.substr(begin, member.find_last_not_of(" \t") + 1 - begin);
      const std::size_t equals = member.find('=');
      if (equals == std::string_view::npos) return false;
      const std::string_view key = member.substr(0, equals);
      if (!is_key(key) || !is_value(member.substr(equals + 1)) || !keys.insert(key).second) return false;
    }
    if (comma == std::string_view::npos) return keys.size() <= most_members;
    state.remove_prefix(comma + 1);
  }
}

std::uint64_t random_number() {
  thread_local std::mt19937_64 random = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  std::uint64_t number = 0;
  while (number == 0) number = random();  // an id of zeros is none
  return number;
}

}  // namespace

TraceContext read_trace_context(std::string_view parent, std::string_view state) {
  // version-trace-span-flags: 00-32-16-2
  constexpr std::size_t length = 55;
  parent = trim(parent);
  if (parent.size() < length || parent[2] != '-' || parent[35] != '-' || parent[52] != '-') return {};
  const std::string_view version = parent.substr(0, 2), trace = parent.substr(3, 32),
                         span = parent.substr(36, 16), flags = parent.substr(53, 2);
  if (!is_hex(version) || version == "ff" || !is_id(trace) || !is_id(span) || !is_hex(flags)) return {};
  // What a later version adds comes after another hyphen.
  if (parent.size() > length && (version == "00" || parent[length] != '-')) return {};
  TraceContext context{std::string(trace),
                       std::string(span),
                       static_cast<std::uint8_t>(number_of_hex(flags) & known_flags),
                       {}};
  state = trim(state);
  if (is_state(state)) context.state = state;
  return context;
}

std::string traceparent(const TraceContext& context) {
  return fmt::format("00-{}-{}-{:02x}", context.trace_id, context.span_id, context.flags);
}

void add_trace_headers(std::vector<HttpHeader>& headers, const TraceContext& context) {
  if (!context.is_known()) return;
  headers.push_back({"traceparent", traceparent(context)});
  if (!context.state.empty()) headers.push_back({"tracestate", context.state});
}

std::string new_trace_id() {
  return fmt::format("{:016x}{:016x}", random_number(), random_number());
}
std::string new_span_id() {
  return fmt::format("{:016x}", random_number());
}

bool is_in_share(std::string_view trace_id, double share) {
  if (share >= 1) return true;
  if (trace_id.size() != 32) return false;
  constexpr double all = 1ULL << 56U;  // the last 7 bytes are those that must be random
  std::uint64_t number = 0;
  const std::string_view last = trace_id.substr(18);
  std::from_chars(last.data(), last.data() + last.size(), number, 16);
  return static_cast<double>(number) < share * all;
}

}  // namespace plimsoll::base
