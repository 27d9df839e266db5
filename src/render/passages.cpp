#include "render/passages.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/json/parse_json.hpp"

namespace plimsoll::render {
namespace {

constexpr std::string_view order_names[] = {"document", "best-first", "best-last", "both-ends"};

struct Draft {
  SelectedPassage passage;
  const Stretch* stretch = nullptr;
  const StoredChunk* first = nullptr;  // where it begins
  std::uint64_t words = 0;             // of the query
  std::uint32_t link = no_link;        // of its best sentence
  std::uint32_t part = 0;              // of the question, that its best sentence answers
};

std::string reason_of(const Draft& draft, const Evidence& evidence) {
  std::vector<std::string_view> words;
  for (std::size_t t = 0; t < evidence.words.size(); ++t) {
    if ((draft.words >> t & 1) != 0) words.push_back(evidence.words[t]);
  }
  std::string out;
  if (!words.empty()) out = fmt::format("words: {}", fmt::join(words, ", "));
  if (evidence.by_meaning)
    out += fmt::format("{}meaning {:.2f}", out.empty() ? "" : "; ", std::max(draft.passage.meaning, 0.0F));
  if (draft.link < evidence.links.size()) {
    const EvidenceLink& link = evidence.links[draft.link];
    const std::string by = link.from.empty() ? "the question" : link.from;
    out = fmt::format("'{}' is named in {}{}{}", link.name, by, out.empty() ? "" : "; ", out);
  }
  if (out.empty()) out = "next to a match";
  if (evidence.parts > 1) out = fmt::format("part {} of the question; {}", draft.part + 1, out);
  return out;
}

// Returns whether the lead of the passage's first chunk is in that chunk, inside or after the passage. The
// same row further on is the header of another table.
bool follows(const Draft& draft) {
  const SelectedPassage& passage = draft.passage;
  const std::string rest = draft.stretch->text_within({passage.span.start, draft.first->chunk.span.end});
  return rest.find(passage.lead) != std::string::npos;
}

// Joins chosen neighbours into one passage, with the white space between them.
std::vector<Draft> joined(const Evidence& evidence, const Chosen& chosen) {
  std::vector<Draft> out;
  std::size_t place = 0;
  for (const Stretch& stretch : evidence.stretches) {
    bool goes_on = false;
    for (std::size_t i = 0; i < stretch.sentences.size(); ++i) {
      const ScoredSentence& sentence = stretch.sentences[i];
      if (!chosen[place++]) {
        goes_on = false;
        continue;
      }
      if (!goes_on || !continues(stretch, i)) {
        const StoredChunk& chunk = *stretch.chunks[sentence.chunk];
        Draft draft;
        draft.stretch = &stretch;
        draft.first = &chunk;
        draft.passage.document = stretch.document->id;
        draft.passage.key = stretch.document->key;
        draft.passage.span = sentence.span;
        draft.passage.lead = chunk.chunk.lead;
        draft.passage.page = page_at(chunk.chunk, sentence.span.start);
        draft.passage.addressable = stretch.document->addressable;
        draft.passage.meaning = sentence.meaning;
        out.push_back(std::move(draft));
      }
      Draft& draft = out.back();
      draft.passage.span.end = sentence.span.end;
      draft.passage.last_page = page_at(stretch.chunks[sentence.chunk]->chunk, sentence.span.start);
      if (sentence.score >= draft.passage.score) {
        draft.passage.score = sentence.score;
        draft.link = sentence.link;
        draft.part = sentence.part;
      }
      draft.words |= sentence.words;
      draft.passage.meaning = std::max(draft.passage.meaning, sentence.meaning);
      draft.passage.relevance = std::max(draft.passage.relevance, sentence.relevance);
      goes_on = true;
    }
  }
  for (Draft& draft : out) {
    draft.passage.text = draft.stretch->text_within(draft.passage.span);
    const DocumentHead& document = *draft.stretch->document;
    draft.passage.path = heading_or_title(
        document.sections, section_of(document.sections, draft.passage.span), document.metadata);
    // If the passage contains its table's header row, it is not repeated; text before a definition is
    // not part of it.
    if (follows(draft)) draft.passage.lead.clear();
    draft.passage.reason = reason_of(draft, evidence);
  }
  return out;
}

// Labels a passage with the number of its document, and the document's first passage also with its name and
// headings: the longest form within the limit.
void label(std::vector<SelectedPassage>& passages, const Tokenizer& tokenizer, Tokens names) {
  std::map<DocumentId, std::size_t> numbers;
  for (SelectedPassage& passage : passages) {
    const auto [number, is_new] = numbers.try_emplace(passage.document, numbers.size() + 1);
    const std::string plain = fmt::format("[{}] ", number->second);
    passage.label = plain;
    if (!is_new) continue;
    std::vector<std::string> forms;
    if (!passage.path.empty())
      forms.push_back(fmt::format("[{}: {} > {}] ", number->second, passage.key, passage.path));
    forms.push_back(fmt::format("[{}: {}] ", number->second, passage.key));
    for (std::string& form : forms) {
      const Tokens more = tokenizer.count(form) - tokenizer.count(plain);
      if (more > names) continue;
      names -= more;
      passage.label = std::move(form);
      break;
    }
  }
}

// Returns the title in the metadata, or nothing if it is the heading of only a part of the document.
std::string title_of(const std::vector<DocumentSection>& sections, const Metadata& metadata) {
  constexpr std::size_t most_title = 200;  // as in documents that are read; a client may send any
  const auto found = metadata.find("title");
  if (found == metadata.end()) return {};
  const nlohmann::ordered_json json = base::parse_json(found->second);
  if (!json.is_string()) return {};
  std::string title = json.get<std::string>();
  std::size_t parts = 0, named = 0;
  for (std::size_t i = 1; i < sections.size(); ++i) {
    if (sections[i].parent != 0) continue;
    ++parts;
    named += sections[i].title == title ? 1 : 0;
  }
  if (title.size() > most_title || (parts > 1 && named > 0)) return {};
  return title;
}

}  // namespace

std::uint32_t section_of(const std::vector<DocumentSection>& sections, Span span) {
  return common_section(sections, section_at(sections, span.start),
                        section_at(sections, std::max(span.start + 1, span.end) - 1));
}

std::string heading_or_title(const std::vector<DocumentSection>& sections, std::uint32_t section,
                             const Metadata& metadata) {
  std::string path = heading_path(sections, section);
  return path.empty() ? title_of(sections, metadata) : path;
}

bool continues(const Stretch& stretch, std::size_t sentence) {
  if (sentence == 0) return false;
  const std::uint32_t before = stretch.sentences[sentence - 1].chunk,
                      here = stretch.sentences[sentence].chunk;
  return before == here || stretch.chunks[before]->path == stretch.chunks[here]->path;
}

std::vector<std::size_t> in_order(const std::vector<const SelectedPassage*>& passages, PassageOrder order) {
  std::vector<std::size_t> places(passages.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == PassageOrder::document) {
    std::map<DocumentId, float> best;
    for (const SelectedPassage* passage : passages)
      best[passage->document] = std::max(best[passage->document], passage->score);
    std::ranges::stable_sort(places, [&](std::size_t at_a, std::size_t at_b) {
      const SelectedPassage &a = *passages[at_a], &b = *passages[at_b];
      if (a.document == b.document) return a.span.start < b.span.start;
      const float of_a = best[a.document], of_b = best[b.document];
      return of_a != of_b ? of_a > of_b : a.document < b.document;
    });
    return places;
  }
  std::ranges::stable_sort(places, std::greater<>(), [&](std::size_t at) { return passages[at]->score; });
  if (order == PassageOrder::best_last) std::ranges::reverse(places);
  if (order == PassageOrder::both_ends) {
    // 1st, 3rd, 5th, ... 6th, 4th, 2nd.
    std::vector<std::size_t> front, back;
    for (std::size_t i = 0; i < places.size(); ++i) (i % 2 == 0 ? front : back).push_back(places[i]);
    front.insert(front.end(), back.rbegin(), back.rend());
    places = std::move(front);
  }
  return places;
}

Selection write_passages(const Evidence& evidence, const Chosen& chosen, const Tokenizer& tokenizer,
                         const SelectOptions& options, Tokens names) {
  Selection out;
  std::vector<Draft> drafts = joined(evidence, chosen);
  std::vector<const SelectedPassage*> found;
  for (const Draft& draft : drafts) found.push_back(&draft.passage);
  for (const std::size_t place : in_order(found, options.order))
    out.passages.push_back(std::move(drafts[place].passage));
  if (options.labels) label(out.passages, tokenizer, names);
  std::size_t number = 0;
  for (const SelectedPassage& passage : out.passages) {
    ++number;
    if (options.render) {
      out.text += options.render(passage, number);
      continue;
    }
    if (!out.text.empty()) out.text += '\n';
    out.text += passage.label;
    if (!passage.lead.empty()) out.text += passage.lead + '\n';
    out.text += passage.text;
  }
  out.tokens = tokenizer.count(out.text);
  return out;
}

}  // namespace plimsoll::render

namespace plimsoll {

std::string_view name_of(PassageOrder order) {
  return render::order_names[static_cast<std::size_t>(order)];
}

std::optional<PassageOrder> passage_order_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(render::order_names); ++i) {
    if (render::order_names[i] == name) return static_cast<PassageOrder>(i);
  }
  return std::nullopt;
}

}  // namespace plimsoll
