// Verbs of sharing out and of falling back.
#include <stdexcept>

#include <fmt/format.h>

#include "plimsoll/budget.hpp"
#include "plimsoll/fallback.hpp"
#include "scenario.hpp"

namespace plimsoll::scenarios {
namespace {

const ModelCatalogue& catalogue() {
  static const ModelCatalogue built_in = *ModelCatalogue::built_in();
  return built_in;
}

SectionKind kind_named(const std::string& name) {
  for (std::size_t kind = 0; kind < section_kinds; ++kind)
    if (name_of(static_cast<SectionKind>(kind)) == name) return static_cast<SectionKind>(kind);
  throw std::runtime_error("no section is called " + name);
}

std::string error_line(const Error& error) {
  return fmt::format("error {}: {}", name_of(error.code), error.what);
}

// ask KIND basis=N [min=N] [max=N] [grow=N] [shrink=N]; fixed KIND N
Section section_of(const Line& line) {
  if (line.verb == "fixed") {
    const Tokens tokens = std::stoll(line.word(1));
    return {.kind = kind_named(line.word(0)), .basis = tokens, .min = tokens, .max = tokens};
  }
  const Tokens basis = line.number("basis");
  return {.kind = kind_named(line.word(0)),
          .basis = basis,
          .min = line.number("min"),
          .max = line.number("max", basis),
          .grow = line.number("grow"),
          .shrink = line.number("shrink")};
}

void fate_lines(std::string& out, const char* name, const std::vector<Fate>& fates) {
  for (std::size_t i = 0; i < fates.size(); ++i)
    out += fmt::format("{} {} {}\n", name, i + 1, name_of(fates[i]));
}

std::string retrieval_line(const Line& line) {
  const budget::RetrievalRoom room = budget::retrieval_room(
      line.number("window"), line.number("system"), line.number("query"), line.number("history"),
      {.safety_margin = line.real("safety_margin", 0.75),
       .generation_buffer = line.number("generation_buffer", 512),
       .average_chunk = line.number("average_chunk", 200),
       .min_top_k = line.number("min_top_k", 2),
       .max_top_k = line.number("max_top_k", 10)});
  return fmt::format("usable {} overhead {} room {} top_k {} max_chunk_tokens {}", room.usable, room.overhead,
                     room.room, room.top_k, room.max_chunk_tokens);
}

std::string fallback_line(const Line& line) {
  const std::string model = line.text("model");
  const auto found = catalogue().find(model);
  FallbackAsk ask;
  ask.current = model;
  ask.window = line.number("window", found ? found->card->window : 0);
  ask.total = line.has("total") ? line.number("total") : fallback_total(line.number("messages"));
  ask.enabled = line.text("enabled", "yes") == "yes";
  ask.allowed = split(line.text("allowed"), ',');
  const FallbackDecision decision = choose_fallback(ask, catalogue());
  std::string out = fmt::format("{} of {}: ", decision.total, decision.threshold);
  if (!decision.needed) return out + "none needed";
  out += decision.to.empty() ? fmt::format("none found for {}", decision.required) : "to " + decision.to;
  for (const FallbackCandidate& candidate : decision.considered)
    if (candidate.model != decision.to) out += fmt::format("; {} {}", candidate.model, candidate.verdict);
  return out;
}

std::string model_line(const Line& line) {
  const auto found = catalogue().find(line.word(0));
  if (!found) return "unknown";
  return fmt::format("{} {} {}", found->card->name, found->card->window, name_of(found->kind));
}

std::string adjusted(const budget::AdjustedAnswer& answer) {
  return fmt::format("{}{}", answer.tokens, answer.reduced ? " REDUCED" : "");
}

}  // namespace

std::string play_negotiation(const std::vector<Line>& given) {
  Load load;
  Tokens window = 0, change = 0;
  bool pieces = false;
  for (const Line& line : given) {
    if (line.verb == "window") {
      window = std::stoll(line.word(0));
    } else if (line.verb == "ask" || line.verb == "fixed") {
      load.sections.push_back(section_of(line));
    } else if (line.verb == "change") {
      change = std::stoll(line.word(0));
    } else if (line.verb == "most_turns") {
      load.most_turns = std::stoll(line.word(0));
    } else if (line.verb == "most_passages") {
      load.most_passages = std::stoll(line.word(0));
    } else {
      auto& into = line.verb == "turn" ? load.turns : line.verb == "fact" ? load.facts : load.passages;
      if (line.verb != "turn" && line.verb != "fact" && line.verb != "passage")
        throw std::runtime_error("a window has no '" + line.verb + "'");
      into.push_back({std::stoll(line.word(0)), line.real("value")});
      pieces = true;
    }
  }
  std::string out;
  const auto grants = [&](const std::vector<Tokens>& tokens, Tokens left) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      out += fmt::format("{} {}\n", name_of(load.sections[i].kind), tokens[i]);
    out += fmt::format("left {}\n", left);
  };
  if (!pieces) {
    const auto shares = budget::negotiate(window, load.sections);
    if (!shares) return error_line(shares.error()) + "\n";
    grants(shares->grants, shares->left);
    return out;
  }
  const auto placement = budget::fill(window, load);
  if (!placement) return error_line(placement.error()) + "\n";
  if (change != 0) {
    const budget::ShadowPrice price = budget::shadow_price(load, *placement, window + change, load);
    if (!price.fits) return "would not fit\n";
    for (const auto& [list, what] : {std::pair{&price.added, "comes"}, {&price.gone, "goes"}}) {
      for (const std::size_t i : list->turns) out += fmt::format("turn {} {}\n", i + 1, what);
      for (const std::size_t i : list->passages) out += fmt::format("passage {} {}\n", i + 1, what);
      for (const std::size_t i : list->facts) out += fmt::format("fact {} {}\n", i + 1, what);
    }
    return out + fmt::format("answer {:+}\n", price.answer);
  }
  grants(placement->used, placement->left);
  fate_lines(out, "fact", placement->facts);
  fate_lines(out, "turn", placement->turns);
  fate_lines(out, "passage", placement->passages);
  return out;
}

std::optional<std::string> play_rule(const Line& line) {
  const auto maximum = [&]() -> std::optional<Tokens> {
    if (!line.has("max_tokens")) return std::nullopt;
    return line.number("max_tokens");
  };
  if (line.verb == "retrieval_room") return retrieval_line(line);
  if (line.verb == "adjusted_max_tokens")
    return adjusted(
        budget::adjusted_max_tokens(line.number("window"), line.number("input"), line.number("requested")));
  if (line.verb == "safe_message_count")
    return std::to_string(
        budget::safe_message_count(line.has("window") ? std::optional(line.number("window")) : std::nullopt));
  if (line.verb == "context_budget") {
    const auto tokens = budget::context_budget(line.number("window"), line.number("query"), maximum(),
                                               line.real("ratio", 0.5));
    return tokens ? std::to_string(*tokens) : error_line(tokens.error());
  }
  if (line.verb == "answer_within") {
    const auto answer =
        budget::answer_within(line.number("window"), line.number("prompt"), line.number("requested"));
    return answer ? adjusted(*answer) : error_line(answer.error());
  }
  if (line.verb == "margin")
    return std::to_string(budget::margin_for({.embedded = line.text("embedded") == "yes",
                                              .seen = line.has("drift"),
                                              .worst = line.number("drift")}));
  if (line.verb == "fallback") return fallback_line(line);
  if (line.verb == "model") return model_line(line);
  return std::nullopt;
}

}  // namespace plimsoll::scenarios
