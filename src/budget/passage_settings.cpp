#include "budget/passage_settings.hpp"

#include <array>

#include <fmt/format.h>

namespace plimsoll::budget {

std::span<const base::Setting> passage_settings() {
  static const std::array declared{
      base::Setting{"context_safety_margin", "CONTEXT_SAFETY_MARGIN",
                    base::Real{&PassageSettings::context_safety_margin, 0.1, 1.0},
                    "Share of the window that the top_k rule (B1) may fill."},
      base::Setting{"generation_buffer", "GENERATION_BUFFER",
                    base::Whole{&PassageSettings::generation_buffer, 0, base::most_tokens},
                    "Tokens that the top_k rule (B1) keeps free for the answer."},
      base::Setting{"min_top_k", "MIN_TOP_K", base::Whole{&PassageSettings::min_top_k, 1, 10'000},
                    "Fewest passages that the top_k rule (B1) asks for, if they fit."},
      base::Setting{"max_top_k", "MAX_TOP_K", base::Whole{&PassageSettings::max_top_k, 1, 10'000},
                    "Most passages that the top_k rule (B1) asks for."},
      base::Setting{"avg_chunk_tokens", "AVG_CHUNK_TOKENS",
                    base::Whole{&PassageSettings::avg_chunk_tokens, 1, base::most_tokens},
                    "Tokens per passage that the top_k rule (B1) assumes."},
      base::Setting{"reverse_context_for_ollama", "REVERSE_CONTEXT_FOR_OLLAMA",
                    base::Flag{&PassageSettings::reverse_context_for_ollama},
                    "Put the best passage last for Ollama, which truncates from the start."},
      base::Setting{
          "rag_document_node_token_approximation", "RAG_DOCUMENT_NODE_TOKEN_APPROXIMATION",
          base::Whole{&PassageSettings::rag_document_node_token_approximation, 1, base::most_tokens},
          "Tokens per stored passage that rule K3 assumes when it fetches candidates."},
      base::Setting{
          "rag_similarity_threshold", "RAG_SIMILARITY_THRESHOLD",
          base::Real{&PassageSettings::rag_similarity_threshold, 0.0, 4.0},
          "Squared distance above which a passage is dropped; 0 keeps all passages. Applies if it is set, "
          "or with kaito_compat."},
      base::Setting{
          "rag_context_token_fill_ratio", "RAG_CONTEXT_TOKEN_FILL_RATIO",
          base::Real{&PassageSettings::rag_context_token_fill_ratio, 0.2, 0.8},
          "Share of the room for passages by rule B4, if a request does not give one. If this is not set, "
          "such requests are negotiated."},
      base::Setting{"passage_tokens", "", base::Whole{&PassageSettings::passage_tokens, 0, base::most_tokens},
                    "Most tokens of passages, if a request gives neither a token budget nor a ratio."},
      base::Setting{"embedded_passage_tokens", "",
                    base::Whole{&PassageSettings::embedded_passage_tokens, 0, base::most_tokens},
                    "The same limit for the embedded model, which reads slowly."},
      base::Setting{
          "passage_instruction", "", base::Text{&PassageSettings::passage_instruction},
          "Instruction to the model on how to use passages; auto: chosen by policy; empty: no instruction."},
      base::Setting{"addition_prompt_tokens", "ADDITION_PROMPT_TOKENS",
                    base::Whole{&PassageSettings::addition_prompt_tokens, 0, base::most_tokens},
                    "Tokens that rule B4 reserves for the prompt text around the passages."},
      base::Setting{"rag_max_top_k", "RAG_MAX_TOP_K", base::Whole{&PassageSettings::rag_max_top_k, 1, 10'000},
                    "Most passages that one retrieval request may ask for."},
  };
  return declared;
}

Result<void> check(const PassageSettings& settings, const base::SettingParts& all) {
  if (settings.min_top_k > settings.max_top_k)
    return fail(Errc::bad_setting, "min_top_k is {} ({}), which is greater than max_top_k, {} ({})",
                settings.min_top_k, all.origin_of("min_top_k"), settings.max_top_k,
                all.origin_of("max_top_k"));
  return {};
}

}  // namespace plimsoll::budget
