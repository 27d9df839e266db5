#include "base/try.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll {

void CatalogueModels::set_window(std::string model, Window window) {
  windows_.insert_or_assign(std::move(model), std::move(window));
}

Result<PlanModel> CatalogueModels::open_unknown(std::string_view model) const {
  TRY(Tokenizer tokenizer, library_.open("o200k_base"));
  PlanModel unknown{.name = std::string(model),
                    .window = {},
                    .tokenizer = std::move(tokenizer),
                    .chat = {},
                    .why = {},
                    .drift = {}};
  unknown.window = {default_window_,
                    WindowSource::assumed,
                    Confidence::low,
                    {{"catalogue", catalogue_.no_entry_for(model)}}};
  unknown.exactness = Exactness::estimated;
  unknown.why = fmt::format("the tokenizer of '{}' is not known; counted with o200k_base", model);
  return unknown;
}

Result<PlanModel> CatalogueModels::open_known(std::string_view model, const ModelMatch& match) const {
  const ModelCard& card = *match.card;
  TRY(Tokenizer tokenizer, library_.open(card.tokenizer));
  PlanModel known{.name = std::string(model),
                  .window = {},
                  .tokenizer = std::move(tokenizer),
                  .chat = {},
                  .why = card.why,
                  .drift = {}};
  known.usual_output = card.max_output;
  if (card.origin != "built in") known.max_output = card.max_output;  // set by the user for their server
  known.exactness = card.exactness;
  known.chat.chat_template = card.chat_template;
  known.chat.specials = card.specials;
  known.chat.images = card.images;
  const bool relative = match.kind == MatchKind::partial;
  known.window = {card.window,
                  WindowSource::catalogue,
                  relative ? Confidence::low : Confidence::medium,
                  {{"catalogue", fmt::format("{} {}, from {}", relative ? "nearest relative" : "entry",
                                             card.name, card.source)}}};
  if (relative) {
    known.exactness = worse(known.exactness, Exactness::estimated);
    known.why = fmt::format("'{}' is not in the catalogue; counted as the nearest related model, {}", model,
                            card.name);
  }
  return known;
}

Result<PlanModel> CatalogueModels::open(std::string_view model) const {
  const auto match = catalogue_.find(model);
  TRY(PlanModel opened, match ? open_known(model, *match) : open_unknown(model));
  if (const auto set = windows_.find(model); set != windows_.end()) opened.window = set->second;
  return opened;
}

std::optional<Tokens> CatalogueModels::window_of(std::string_view model) const {
  if (const auto set = windows_.find(model); set != windows_.end()) return set->second.tokens;
  const auto match = catalogue_.find(model);
  return match ? std::optional(match->card->window) : std::nullopt;
}

bool CatalogueModels::same(std::string_view a, std::string_view b) const {
  if (a == b) return true;
  const auto first = catalogue_.find(a), second = catalogue_.find(b);
  return first && second && first->card == second->card;
}

}  // namespace plimsoll
