#include "count/tokenizer_settings.hpp"

#include <array>

namespace plimsoll::count {

std::span<const base::Setting> tokenizer_settings() {
  static const std::array declared{
      base::Setting{"assets_dir", "", base::Path{&TokenizerSettings::assets_dir},
                    "Folder with the files that the set-up downloaded."},
      base::Setting{"tokenizer_dir", "", base::Path{&TokenizerSettings::tokenizer_dir},
                    "Folder with the compiled tokenizers."},
  };
  return declared;
}

}  // namespace plimsoll::count
