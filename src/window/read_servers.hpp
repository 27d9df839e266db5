// A reader for each format of reply; plimsoll/window.hpp chooses by the kind of server.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/window.hpp"

namespace plimsoll::window {

Result<ReportedModel> read_ollama_show(std::string_view reply);
// /api/tags and /api/ps: the same list; /api/ps also has the loaded window.
Result<std::vector<ReportedModel>> read_ollama_list(std::string_view reply);
Result<ReportedModel> read_llama_props(std::string_view reply);
// OpenAI's GET /v1/models with the extra fields of vLLM, OpenRouter, llama.cpp, Anthropic and others.
Result<std::vector<ReportedModel>> read_openai_models(std::string_view reply);
Result<std::vector<ReportedModel>> read_lm_studio_models(std::string_view reply);
Result<ReportedModel> read_tgi_info(std::string_view reply);
Result<std::vector<ReportedModel>> read_gemini_models(std::string_view reply);

}  // namespace plimsoll::window
