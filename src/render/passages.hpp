// Turns chosen sentences into the text to send: joined, ordered, labelled, counted.
#pragma once

#include <vector>

#include "plimsoll/passage.hpp"

namespace plimsoll::render {

using Chosen = std::vector<bool>;  // one entry per sentence of all stretches

// Returns the innermost section that contains the span.
std::uint32_t section_of(const std::vector<DocumentSection>& sections, Span span);

// Returns the heading path of a section; without headings, the title in the document's metadata, or nothing.
std::string heading_or_title(const std::vector<DocumentSection>& sections, std::uint32_t section,
                             const Metadata& metadata);

// Returns whether the sentence can share a passage with the previous one in the stretch. A passage belongs to
// one section, so that its label fits all its text.
bool continues(const Stretch& stretch, std::size_t sentence);

// Returns the indices of the passages in prompt order.
std::vector<std::size_t> in_order(const std::vector<const SelectedPassage*>& passages, PassageOrder order);

// `names`: most tokens for names of documents and headings; what does not fit is left out of a label, which
// keeps its number. The passages' own tokens are not counted yet.
Selection write_passages(const Evidence& evidence, const Chosen& chosen, const Tokenizer& tokenizer,
                         const SelectOptions& options, Tokens names);

}  // namespace plimsoll::render
