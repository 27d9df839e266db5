#include "serve/serve_chat.hpp"

namespace plimsoll {
namespace {

gateway::EvaluationRules evaluation_rules(const config::Settings& settings, gateway::Gate& gate) {
  gateway::EvaluationRules rules;
  rules.runs = static_cast<std::size_t>(settings.max_evaluation_runs);
  rules.per_question = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(settings.evaluation_question_seconds));
  rules.refuses = [&gate](const std::string& owner) { return gate.refuses(owner); };
  return rules;
}

gateway::UploadRules upload_rules(const config::Settings& settings) {
  gateway::UploadRules rules;
  rules.jobs = static_cast<std::size_t>(settings.max_upload_jobs);
  rules.bytes = static_cast<std::size_t>(settings.max_upload_bytes);
  return rules;
}

}  // namespace

ServedChat::ServedChat(const config::Settings& settings, engine::Engine& engine,
                       library::Collections& collections, std::unique_ptr<SessionStore> sessions,
                       gateway::ThreadMaker maker, gateway::Gate& gate)
    : settings_(settings),
      collections_(collections),
      sessions_(std::move(sessions)),
      evaluations_(engine, *sessions_, std::move(maker), evaluation_rules(settings, gate)),
      uploads_(collections, *sessions_, upload_rules(settings)) {}

gateway::ChatContext ServedChat::context() {
  gateway::ChatContext context;
  context.collections = &collections_;
  context.sessions = sessions_.get();
  context.evaluations = &evaluations_;
  context.uploads = &uploads_;
  context.limits = {settings_.max_session_turns, settings_.max_session_bytes, settings_.max_sessions};
  context.bounds.usual_top_k = settings_.max_top_k;
  context.bounds.most_top_k = std::max(settings_.rag_max_top_k, settings_.max_top_k);
  context.bounds.questions = static_cast<std::size_t>(settings_.max_evaluation_questions);
  return context;
}

}  // namespace plimsoll
