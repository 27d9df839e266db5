#include <array>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/vocabulary/gguf_metadata.hpp"
#include "plimsoll/window.hpp"
#include "window/reply_json.hpp"

namespace plimsoll {
namespace {

constexpr std::size_t longest_text = 200;

// general.file_type, by its number; empty: retired.
constexpr std::array<std::string_view, 33> file_types{
    "F32",   "F16",     "Q4_0",   "Q4_1",   "",       "",        "",       "Q8_0",   "Q5_0",
    "Q5_1",  "Q2_K",    "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S",  "Q4_K_M", "Q5_K_S", "Q5_K_M",
    "Q6_K",  "IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",
    "IQ3_M", "IQ2_S",   "IQ2_M",  "IQ4_XS", "IQ1_M",  "BF16"};

}  // namespace

Result<ReportedModel> read_gguf_model(std::string_view file) {
  TRY(const count::GgufMetadata metadata, count::read_gguf_metadata(file));
  ReportedModel model;
  model.name = metadata.text("general.name");
  model.family = metadata.text("general.architecture");
  if (model.family.empty() || model.family.size() > longest_text)
    return fail(Errc::bad_input, "the GGUF file has no architecture");
  if (model.name.size() > longest_text) model.name.clear();
  const std::string key = model.family + ".context_length";
  const std::int64_t length = metadata.number(key, 0);
  if (!metadata.numbers.contains(key))
    model.problem = fmt::format("the GGUF file has no {}", key);
  else if (length < 1 || length > largest_served_window)
    model.problem = fmt::format("{} is {}, not a whole number from 1 to {}", key, length,
                                base::with_thousands(largest_served_window));
  else
    model.maximum = length;
  model.parameters = metadata.text("general.size_label");
  if (model.parameters.empty() || model.parameters.size() > longest_text) {
    const std::int64_t count = metadata.number("general.parameter_count", 0);
    model.parameters =
        window::parameters_of(window::Json(count < 0 ? 0U : static_cast<std::uint64_t>(count)));
  }
  const std::int64_t type = metadata.number("general.file_type", -1);
  if (type >= 0 && static_cast<std::size_t>(type) < file_types.size())
    model.quantization = file_types[static_cast<std::size_t>(type)];
  return model;
}

}  // namespace plimsoll
