#include "input/count_choice.hpp"

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "serve/known_models.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

Result<CountChoice> choose_by_model(const TokenizerLibrary& library, const config::Settings& settings,
                                    const CountOptions& options) {
  TRY(const ModelCatalogue catalogue, known_models(settings));
  const auto match = catalogue.find(options.model);
  if (!match) {
    const auto near = catalogue.nearest(options.model);
    return fail(
        Errc::unknown_model,
        "no tokenizer is known for the model '{}'; {}give one with --tokenizer, or add the model to a "
        "models_file",
        options.model, near ? fmt::format("did you mean '{}'? Otherwise ", *near) : "");
  }
  const ModelCard& card = *match->card;
  TRY(auto tokenizer, library.open(card.tokenizer));
  CountChoice chosen{std::move(tokenizer), card.specials, card.window, card.name, {},
                     card.exactness,       card.why};
  chosen.chat = {.chat_template = card.chat_template,
                 .specials = card.specials,
                 .images = card.images,
                 .server_adds_bos = true,
                 .date = {},
                 .keep_rendered = false};
  if (match->kind == MatchKind::partial) {
    chosen.exactness = worse(chosen.exactness, Exactness::estimated);
    chosen.why = fmt::format("'{}' is not in the catalogue; counted as the nearest related model, {}",
                             options.model, card.name);
  }
  return chosen;
}

}  // namespace

Result<CountChoice> choose_tokenizer(const TokenizerLibrary& library, const config::Settings& settings,
                                     const CountOptions& options) {
  if (!options.model.empty()) return choose_by_model(library, settings, options);
  if (options.tokenizer.empty() && options.tokenizer_file.empty()) {
    TRY(auto usual, library.open("o200k_base"));
    return CountChoice{std::move(usual),
                       Specials::plain,
                       0,
                       {},
                       {},
                       Exactness::exact,
                       "the default; choose with --model or --tokenizer"};
  }
  TRY(auto tokenizer, options.tokenizer.empty() ? library.open_file(options.tokenizer_file)
                                                : library.open(options.tokenizer));
  return CountChoice{std::move(tokenizer), Specials::plain, 0, {}, {}, Exactness::exact, {}};
}

std::string counted_with(const CountChoice& chosen, Exactness exactness, std::string_view why) {
  const std::string& tokenizer = chosen.tokenizer.info().name;
  const std::string by = chosen.model.empty() ? tokenizer : fmt::format("{} ({})", chosen.model, tokenizer);
  return why.empty() ? fmt::format("{}, {}\n", by, name_of(exactness))
                     : fmt::format("{}, {}: {}\n", by, name_of(exactness), why);
}

std::string share_cell(Tokens tokens, Tokens window) {
  const double share = static_cast<double>(tokens) / static_cast<double>(window);
  return fmt::format("{} {:.1f}%", bar(share, 16), share * 100);
}

}  // namespace plimsoll
