#include "models/window_signs.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>

namespace plimsoll::models {
namespace {

bool is_believed(std::int64_t at_ms, std::int64_t now_ms) {
  return std::abs(now_ms - at_ms) < WindowSigns::believed_ms;  // the clock may have been set back
}

}  // namespace

WindowSigns::Heard& WindowSigns::heard_of(const ModelLocation& location, std::int64_t now_ms) {
  const Key key{location.member, location.model};
  if (!heard_.contains(key) && heard_.size() >= most_models)
    heard_.erase(std::ranges::min_element(heard_, {}, [](const auto& one) { return one.second.at_ms; }));
  Heard& heard = heard_[key];
  heard.at_ms = now_ms;
  return heard;
}

bool WindowSigns::refused(const ModelLocation& location, const std::string& owner, std::string_view request,
                          Tokens window, std::int64_t now_ms) {
  if (window < least_believed) return false;
  const std::lock_guard lock(mutex_);
  Heard& heard = heard_of(location, now_ms);
  if (window < heard.accepted && is_believed(heard.accepted_ms, now_ms)) return false;
  if (heard.signs.size() >= most_signs) heard.signs.pop_front();
  heard.signs.push_back({owner, std::hash<std::string_view>{}(request), window, now_ms});
  return true;
}

void WindowSigns::accepted(const ModelLocation& location, Tokens input, std::int64_t now_ms) {
  {
    // The usual case.
    const std::shared_lock lock(mutex_);
    const auto found = heard_.find({location.member, location.model});
    constexpr std::int64_t often_enough_ms = 60'000;
    if (found != heard_.end() && found->second.accepted >= input &&
        std::abs(now_ms - found->second.accepted_ms) < often_enough_ms)
      return;
  }
  const std::lock_guard lock(mutex_);
  Heard& heard = heard_of(location, now_ms);
  std::erase_if(heard.signs, [&](const Sign& sign) { return sign.window < input; });
  if (input < heard.accepted && is_believed(heard.accepted_ms, now_ms)) return;
  heard.accepted = input;
  heard.accepted_ms = now_ms;
}

std::optional<Tokens> WindowSigns::window_for(const ModelLocation& location, const std::string& owner,
                                              std::int64_t now_ms) const {
  const std::shared_lock lock(mutex_);
  const auto found = heard_.find({location.member, location.model});
  if (found == heard_.end()) return std::nullopt;
  const std::deque<Sign>& signs = found->second.signs;
  const auto confirms = [&](const Sign& one, const Sign& other) {
    if (other.window != one.window || !is_believed(other.at_ms, now_ms)) return false;
    if (other.owner != one.owner) return true;
    return one.owner == owner && other.request != one.request;
  };
  for (auto one = signs.rbegin(); one != signs.rend(); ++one)
    if (is_believed(one->at_ms, now_ms) &&
        std::ranges::any_of(signs, [&](const Sign& other) { return confirms(*one, other); }))
      return one->window;
  return std::nullopt;
}

void WindowSigns::forget(std::string_view model) {
  const std::lock_guard lock(mutex_);
  std::erase_if(heard_, [&](const auto& one) { return model.empty() || one.first.second == model; });
}

}  // namespace plimsoll::models
