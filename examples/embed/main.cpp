// Plans a chat request for a window of 600 tokens: what goes along, what is left out, what the answer may
// have.
#include <cstdio>
#include <filesystem>

#include <plimsoll/plan.hpp>

int main(int argc, char** argv) {
  const std::filesystem::path cache = argc > 1 ? argv[1] : ".";  // the folder that set-up filled
  const plimsoll::TokenizerLibrary library(cache / "assets", cache / "tokenizers");
  const auto catalogue = plimsoll::ModelCatalogue::built_in();
  if (!catalogue) return 1;

  std::string turns;
  for (int i = 0; i < 20; ++i)
    turns += R"({"role": "user", "content": "And in winter?"}, {"role": "assistant", "content": "Less."}, )";
  const std::string request =
      R"({"messages": [)" + turns +
      R"({"role": "user", "content": "How deep may she be loaded?"}], "max_tokens": 400})";

  plimsoll::CatalogueModels models(*catalogue, library);
  models.set_window("gpt-4o", {600, plimsoll::WindowSource::configured, plimsoll::Confidence::high, {}});
  const auto plan = plimsoll::plan_request(request, "gpt-4o", {}, models);
  if (!plan) return std::fprintf(stderr, "%s\n", plan.error().what.c_str()), 1;
  std::printf("input %ld, answer %ld, margin %ld, free %ld, %ld of 41 messages\n", plan->input, plan->answer,
              plan->margin, plan->left, plan->message_count);
  return plan->fits ? 0 : 3;
}
