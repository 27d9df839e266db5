// The checks of `plimsoll doctor`, one function each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace plimsoll {

enum class Health : std::uint8_t {
  good,
  doubtful,  // works, but needs attention
  bad,       // something will not work
};
std::string_view name_of(Health health);  // "ok", "warning", "bad"

struct Diagnosis {
  std::string what;  // "store", "upstream ollama"
  Health health = Health::good;
  std::string found;   // one sentence with numbers
  std::string remedy;  // how to fix it; empty if good
};

using Diagnoses = std::vector<Diagnosis>;

Diagnoses check_files(const config::Settings& settings);  // the folders, their space, the clock
Diagnoses check_store(const config::Settings& settings);  // and every index in it
Diagnoses check_embedders(const config::Settings& settings);
Diagnoses check_models(const config::Settings& settings);  // reads every file of weights
Diagnoses check_upstreams(const config::Settings& settings, const std::vector<std::string>& named);
Diagnoses check_limits(const config::Settings& settings);

}  // namespace plimsoll
