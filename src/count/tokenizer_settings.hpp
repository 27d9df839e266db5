// Settings of where vocabularies and weights are.
#pragma once

#include <filesystem>
#include <span>

#include "base/settings/setting.hpp"

namespace plimsoll::count {

struct TokenizerSettings {
  std::filesystem::path assets_dir;     // downloaded by the set-up; <cache folder>/assets
  std::filesystem::path tokenizer_dir;  // compiled tokenizers; <cache folder>/tokenizers
};

// Their names, allowed values and meanings.
std::span<const base::Setting> tokenizer_settings();

}  // namespace plimsoll::count
