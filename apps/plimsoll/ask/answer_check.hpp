// Compares an answer about documents with its sources, and shows the result.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "ask/ask_options.hpp"
#include "ask/conversation.hpp"
#include "plimsoll/embedder.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

// Returns a function that compares meanings. The embedder must outlive it.
Similarity similarity_of(Embedder& embedder);

// Whether the answer is quoted from the documents instead of written by the model: for a small embedded
// model, unless --generate is given.
bool quotes(const AskOptions& options, const Conversation& conversation);

// The answer where there is nothing to quote.
std::string_view no_quotation(const Spoken& spoken);
// The answer for people, with what they can do if nothing could be quoted.
std::string quoted_text(const Spoken& spoken);

// Compares each sentence of the answer with the sources. Empty if the answer has no sources.
CheckedAnswer checked(const Spoken& spoken, const std::string& question, const AskOptions& options,
                      Conversation& conversation);

// "2 of 3 sentences are supported by the sources." and, for an answer that a model wrote, its sentences:
// those that are supported with their sources, the others marked. "" if there is nothing to say.
std::string check_text(const Spoken& spoken, const CheckedAnswer& check, const Terminal& terminal);

// {supported, unsupported, sentences: [{text, verdict, sources, reason}]}; null if the answer has no sources.
nlohmann::ordered_json check_json(const Spoken& spoken, const CheckedAnswer& check);

}  // namespace plimsoll
