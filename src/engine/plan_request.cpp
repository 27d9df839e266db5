#include <utility>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/evidence/harmless.hpp"
#include "engine/evidence/protect.hpp"
#include "engine/history/compress.hpp"
#include "engine/plan/plan.hpp"
#include "engine/request_state.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

PlanOptions options_for(const Engine& engine, const RequestState& state) {
  PlanOptions options = engine.rules.plan;
  const RequestWishes& wishes = state.parts.wishes;
  options.brief = !wishes.explain && !state.ask.in_full;
  options.kept_free = state.rendered_longer;
  options.fallback = wishes.fallback.value_or(options.fallback);
  if (!wishes.fallback_models.empty()) options.fallback_models = wishes.fallback_models;
  if (state.ask.documents) {
    options.policy = Policy::document_chat;
    options.most_passages = state.ask.documents->top_k;
  }
  return options;
}

// So that a stream tells what was read, where the request is ours already.
void ask_for_usage(const Engine& engine, RequestState& state) {
  if (engine.models.upstreams().always_tells_usage(state.location.member)) {
    state.hides_usage = state.stream && !state.wants_usage;
    return;
  }
  const bool may = state.stream && !state.wants_usage && !state.parts.body.contains("stream_options");
  const bool wanted = engine.rules.ask_for_usage || state.ask.caller.metered;
  if (!may || (state.body.empty() && !wanted)) return;
  if (state.body.empty()) state.body = state.ask.body;
  const std::size_t open = state.body.find('{');
  if (open == std::string::npos) return;
  state.body.insert(open + 1, R"("stream_options":{"include_usage":true},)");
  state.hides_usage = true;
  state.trace.changed = true;
}

// The plan, with documents where they are asked for.
Result<Again> make_plan(Engine& engine, RequestState& state, const PlanOptions& options,
                        const PlanModels& models, Deadline deadline) {
  if (!state.parts.wishes.index.empty()) return plan_with_documents(engine, state, options, models, deadline);
  TRY(state.plan, plan_parts(state.parts, state.model, options, models));
  return compression_is_due(engine, state) ? Again(Replan::history_too_long) : std::nullopt;
}

models::RequestModels models_for(Engine& engine, const RequestState& state, Deadline deadline) {
  return models::RequestModels(engine.models, deadline,
                               {.owner = state.ask.caller.owner,
                                .most = state.ask.window_wish,
                                .with_override = !state.stand_in,
                                .with_learned = state.with_learned,
                                .told = state.told_window});
}

tl::unexpected<Error> refuse(const RequestState& state) {
  const Plan& plan = state.plan;
  return fail(
      Errc::over_budget,
      "Prompt length exceeds context window. {} {} tokens are the least that this request needs (input {}, "
      "thinking {}, answer {}, margin {}), and {} has {} ({}). Shorten the request, lower max_tokens, "
      "choose a model with a larger window, or allow a fallback (llm_fallback_enabled).",
      overflow_in_openais_words(plan.window.tokens, plan.input, plan.thinking + plan.answer),
      with_thousands(plan.least), with_thousands(plan.input), with_thousands(plan.thinking),
      with_thousands(plan.answer), with_thousands(plan.margin), plan.model,
      with_thousands(plan.window.tokens), name_of(plan.window.source));
}

// The figures behind max_tokens: a warning where it was lowered.
void log_budget(const RequestState& state) {
  const Plan& plan = state.plan;
  if (!plan.requested_answer) return;
  const bool reduced = plan.answer < *plan.requested_answer;
  log::write(reduced ? log::Level::warning : log::Level::debug,
             reduced ? "answer reduced" : "answer as asked",
             {{"trace", state.trace.id},
              {"window", plan.window.tokens},
              {"input", plan.input},
              {"available", plan.window.tokens - plan.input - plan.thinking - plan.margin},
              {"requested", *plan.requested_answer},
              {"adjusted", plan.answer},
              {"mark", reduced ? "REDUCED" : "-"}});
}

// `enabled`: a larger model was looked for.
void log_fallback(const RequestState& state, bool enabled) {
  const FallbackDecision& fallback = state.plan.fallback;
  if (!fallback.needed) return;
  log::write(enabled ? log::Level::info : log::Level::debug, "fallback threshold exceeded",
             {{"trace", state.trace.id},
              {"model", fallback.from},
              {"total", fallback.total},
              {"threshold", fallback.threshold},
              {"window", fallback.from_window}});
  if (!enabled) return;
  if (fallback.to.empty())
    return log::error("no fallback found", {{"trace", state.trace.id},
                                            {"model", fallback.from},
                                            {"window", fallback.from_window},
                                            {"required", fallback.required},
                                            {"why", fallback.reason}});
  log::info(fmt::format("falling back from {} to {}", fallback.from, fallback.to),
            {{"trace", state.trace.id},
             {"from_window", fallback.from_window},
             {"to_window", fallback.to_window},
             {"required", fallback.required}});
}

}  // namespace

Result<void> read_request(Engine& engine, RequestState& state) {
  if (!is_chat(state)) return read_other(engine, state);
  TRY(state.parts, read_parts(state.ask.body));
  const Json& body = state.parts.body;
  RequestWishes& wishes = state.parts.wishes;
  TRY(state.model, model_named(body));
  state.trace.asked_model = state.model;
  state.trace.session = wishes.session;
  const auto stream = body.find("stream");
  if (stream != body.end() && !stream->is_null() && !stream->is_boolean())
    return fail(Errc::bad_input, "stream is not true or false");
  state.stream = stream != body.end() && stream->is_boolean() && stream->get<bool>();
  const auto streaming = body.find("stream_options");
  state.wants_usage = streaming != body.end() && streaming->is_object() &&
                      streaming->contains("include_usage") && (*streaming)["include_usage"] == true;
  if (const auto ratio = state.parts.context_ratio; ratio && !(*ratio >= 0.2 && *ratio <= 0.8))
    return fail(Errc::bad_input, "Invalid context_token_ratio: {}. Must be between 0.2 and 0.8.", *ratio);

  // MODEL+INDEX, for clients that can only choose a model.
  const models::Upstreams& upstreams = engine.models.upstreams();
  const std::size_t plus = upstreams.plus_in(state.model);
  if (wishes.index.empty() && plus != std::string::npos && engine.open_indexes != nullptr) {
    const std::string index = state.model.substr(plus + 1), plain = state.model.substr(0, plus);
    if (upstreams.has(plain) || engine.open_indexes->has(state.ask.caller.indexes, index)) {
      TRY(state.parts, read_parts(state.ask.body, index));  // K2 as for a request with index_name
      state.model = plain;
    }
  }
  state.names_index = !wishes.index.empty();
  if (state.names_index) {
    if (engine.open_indexes == nullptr)
      return fail(Errc::not_found, "No such index: '{}' exists.", wishes.index);
    if (const std::string why = why_not_documents(body); !why.empty()) {
      state.trace.warnings.push_back(fmt::format("documents were not looked into: {}", why));
      wishes.index.clear();
      state.parts.altered = true;
    } else if (!state.parts.context_ratio && !state.ask.documents &&
               state.parts.policy != Policy::document_chat) {
      state.parts.context_ratio = engine.rules.context_ratio;  // B1 has its own way
    }
  }
  state.trace.index = wishes.index;
  TRY(state.location, engine.models.upstreams().find(state.model));
  if (state.model.empty() && !state.location.model.empty()) {  // the server's first, by name from here on
    state.model = state.location.model;
    state.parts.body["model"] = state.model;
    state.parts.altered = true;
  }
  return {};
}

bool is_quickly_planned(const Engine& engine, const RequestState& state) {
  return state.parts.wishes.index.empty() && !wants_memories(engine, state) && !engine.rules.plan.fallback &&
         !state.parts.wishes.fallback && engine.models.is_known(state.location);
}

bool has_additions(const Engine& engine, const RequestState& state) {
  return is_chat(state) && (wants_memories(engine, state) || holds_data(state.parts));
}

Result<void> gather_additions(Engine& engine, RequestState& state, Deadline deadline) {
  TRY(const PlanModel model, models_for(engine, state, deadline).open(state.model));
  if (wants_memories(engine, state))
    recall_memories(engine, state, model, engine.rules.plan.compress_above_pct, deadline);
  if (holds_data(state.parts)) defuse_request(model, state);  // memories are data
  return {};
}

Result<Again> plan_request(Engine& engine, RequestState& state, Deadline deadline) {
  const models::RequestModels models = models_for(engine, state, deadline);
  ++state.plans;
  if (!is_chat(state)) {
    TRY_VOID(plan_other(engine, state, models));
    return std::nullopt;
  }
  PlanOptions options = options_for(engine, state);
  // History is compressed before a larger model is looked for, so the first plan is for the one that was
  // asked for.
  const bool falls_back = std::exchange(options.fallback, false);
  TRY(const Again again, make_plan(engine, state, options, models, deadline));
  if (again) return again;
  if (falls_back && state.plan.fallback.needed) {
    options.fallback = true;
    TRY(std::ignore, make_plan(engine, state, options, models, deadline));
  }
  if (!state.plan.fits && summary_of(state.parts) != nullptr) {
    state.parts.compressed->is_dropped = true;
    TRY(std::ignore, make_plan(engine, state, options, models, deadline));
  }
  list_left_memories(state);
  const Plan& plan = state.plan;
  Trace& trace = state.trace;
  trace.plan_us = state.microseconds() - trace.retrieve_us;
  trace.window = plan.window.tokens;
  trace.input = plan.input;
  trace.thinking = plan.thinking;
  trace.answer = plan.answer;
  trace.margin = plan.margin;
  trace.exactness = plan.exactness;
  tell_stand_in(state);
  log_budget(state);
  log_fallback(state, falls_back);
  if (!plan.fits) return refuse(state);
  TRY(state.location,
      engine.models.upstreams().find(plan.fallback.to.empty() ? state.model : plan.fallback.to));
  trace.model = state.location.model;
  trace.upstream = engine.models.upstreams().members()[state.location.member].name;
  if (!plan.fallback.to.empty())
    log::info("request made for the fallback model", {{"trace", trace.id},
                                                      {"model", trace.model},
                                                      {"upstream", trace.upstream},
                                                      {"window", trace.window}});
  state.body = plan.untouched ? std::string() : plan.request;
  trace.changed = !plan.untouched;
  ask_for_usage(engine, state);
  return std::nullopt;
}

}  // namespace plimsoll::engine
