// Settings of how much of a window passages get (rules B1, B4 and K3).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/settings/setting.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::budget {

struct PassageSettings {
  double context_safety_margin = 0.75;  // share of the window that rule B1 may fill
  Tokens generation_buffer = 512;       // kept free for the answer by rule B1
  std::int64_t min_top_k = 2;
  std::int64_t max_top_k = 10;
  Tokens avg_chunk_tokens = 200;           // cost of a chunk that rule B1 assumes
  bool reverse_context_for_ollama = true;  // best passage last: Ollama truncates from the start
  Tokens rag_document_node_token_approximation = 500;
  double rag_similarity_threshold = 0.85;     // squared distance; passages above it are dropped
  double rag_context_token_fill_ratio = 0.5;  // rule B4, if a request gives no ratio
  Tokens passage_tokens = 2'000;              // most of passages, if a request gives neither budget nor ratio
  Tokens embedded_passage_tokens = 500;       // the same for the embedded model
  std::string passage_instruction = "auto";   // how to use passages; "auto": by policy
  Tokens addition_prompt_tokens = 150;        // what rule B4 reserves for its prompt text
  std::int64_t rag_max_top_k = 300;
};

// Their names, allowed values and meanings.
std::span<const base::Setting> passage_settings();

// Checks the rules between them. `all`: knows where each value came from.
Result<void> check(const PassageSettings& settings, const base::SettingParts& all);

}  // namespace plimsoll::budget
