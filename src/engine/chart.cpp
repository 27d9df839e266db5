#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/compress.hpp"
#include "engine/course.hpp"
#include "engine/harmless.hpp"
#include "engine/plan.hpp"
#include "engine/protect.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

PlanOptions options_for(const Engine& engine, const Course& course) {
  PlanOptions options = engine.rules.plan;
  const RequestWishes& wishes = course.parts.wishes;
  options.brief = !wishes.explain && !course.ask.in_full;
  options.kept_free = course.rendered_longer;
  options.fallback = wishes.fallback.value_or(options.fallback);
  if (!wishes.fallback_models.empty()) options.fallback_models = wishes.fallback_models;
  if (course.ask.documents) {
    options.policy = Policy::document_chat;
    options.most_passages = course.ask.documents->top_k;
  }
  return options;
}

// So that a stream tells what was read, where the request is ours already.
void ask_for_usage(const Engine& engine, Course& course) {
  if (engine.models.fleet().always_tells_usage(course.berth.member)) {
    course.hides_usage = course.stream && !course.wants_usage;
    return;
  }
  const bool may = course.stream && !course.wants_usage && !course.parts.body.contains("stream_options");
  const bool wanted = engine.rules.ask_for_usage || course.ask.caller.metered;
  if (!may || (course.body.empty() && !wanted)) return;
  if (course.body.empty()) course.body = course.ask.body;
  const std::size_t open = course.body.find('{');
  if (open == std::string::npos) return;
  course.body.insert(open + 1, R"("stream_options":{"include_usage":true},)");
  course.hides_usage = true;
  course.trace.changed = true;
}

// The plan, with documents where they are asked for.
Result<void> draw(Engine& engine, Course& course, const PlanOptions& options, const PlanModels& models,
                  Deadline deadline) {
  if (course.parts.wishes.index.empty()) {
    TRY(course.plan, plan_parts(course.parts, course.model, options, models));
  } else {
    TRY_VOID(plan_with_documents(engine, course, options, models, deadline));
  }
  course.compression_due = compression_is_due(engine, course);
  return {};
}

Result<void> refuse(const Course& course) {
  const Plan& plan = course.plan;
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
void log_budget(const Course& course) {
  const Plan& plan = course.plan;
  if (!plan.requested_answer) return;
  const bool reduced = plan.answer < *plan.requested_answer;
  log::write(reduced ? log::Level::warning : log::Level::debug,
             reduced ? "answer reduced" : "answer as asked",
             {{"trace", course.trace.id},
              {"window", plan.window.tokens},
              {"input", plan.input},
              {"available", plan.window.tokens - plan.input - plan.thinking - plan.margin},
              {"requested", *plan.requested_answer},
              {"adjusted", plan.answer},
              {"mark", reduced ? "REDUCED" : "-"}});
}

// `enabled`: a larger model was looked for.
void log_fallback(const Course& course, bool enabled) {
  const FallbackDecision& fallback = course.plan.fallback;
  if (!fallback.needed) return;
  log::write(enabled ? log::Level::info : log::Level::debug, "fallback threshold exceeded",
             {{"trace", course.trace.id},
              {"model", fallback.from},
              {"total", fallback.total},
              {"threshold", fallback.threshold},
              {"window", fallback.from_window}});
  if (!enabled) return;
  if (fallback.to.empty())
    return log::error("no fallback found", {{"trace", course.trace.id},
                                            {"model", fallback.from},
                                            {"window", fallback.from_window},
                                            {"required", fallback.required},
                                            {"why", fallback.reason}});
  log::info(fmt::format("falling back from {} to {}", fallback.from, fallback.to),
            {{"trace", course.trace.id},
             {"from_window", fallback.from_window},
             {"to_window", fallback.to_window},
             {"required", fallback.required}});
}

}  // namespace

Result<void> read_request(Engine& engine, Course& course) {
  if (course.is_read) return {};
  if (!is_chat(course)) {
    TRY_VOID(read_other(engine, course));
    course.is_read = true;
    return {};
  }
  TRY(course.parts, read_parts(course.ask.body));
  const Json& body = course.parts.body;
  RequestWishes& wishes = course.parts.wishes;
  TRY(course.model, model_named(body));
  course.trace.asked_model = course.model;
  course.trace.session = wishes.session;
  const auto stream = body.find("stream");
  if (stream != body.end() && !stream->is_null() && !stream->is_boolean())
    return fail(Errc::bad_input, "stream is not true or false");
  course.stream = stream != body.end() && stream->is_boolean() && stream->get<bool>();
  const auto streaming = body.find("stream_options");
  course.wants_usage = streaming != body.end() && streaming->is_object() &&
                       streaming->contains("include_usage") && (*streaming)["include_usage"] == true;
  if (const auto ratio = course.parts.context_ratio; ratio && !(*ratio >= 0.2 && *ratio <= 0.8))
    return fail(Errc::bad_input, "Invalid context_token_ratio: {}. Must be between 0.2 and 0.8.", *ratio);

  // MODEL+INDEX, for clients that can only choose a model.
  const Fleet& fleet = engine.models.fleet();
  const std::size_t plus = fleet.plus_in(course.model);
  if (wishes.index.empty() && plus != std::string::npos && engine.shelf != nullptr) {
    const std::string index = course.model.substr(plus + 1), plain = course.model.substr(0, plus);
    if (fleet.has(plain) || engine.shelf->has(course.ask.caller.indexes, index)) {
      TRY(course.parts, read_parts(course.ask.body, index));  // K2 as for a request with index_name
      course.model = plain;
    }
  }
  course.names_index = !wishes.index.empty();
  if (course.names_index) {
    if (engine.shelf == nullptr) return fail(Errc::not_found, "No such index: '{}' exists.", wishes.index);
    if (const std::string why = why_not_documents(body); !why.empty()) {
      course.trace.warnings.push_back(fmt::format("documents were not looked into: {}", why));
      wishes.index.clear();
      course.parts.altered = true;
    } else if (!course.parts.context_ratio && !course.ask.documents &&
               course.parts.policy != Policy::document_chat) {
      course.parts.context_ratio = engine.rules.context_ratio;  // B1 has its own way
    }
  }
  course.trace.index = wishes.index;
  TRY(course.berth, engine.models.fleet().find(course.model));
  if (course.model.empty() && !course.berth.model.empty()) {  // the server's first, by name from here on
    course.model = course.berth.model;
    course.parts.body["model"] = course.model;
    course.parts.altered = true;
  }
  course.is_read = true;
  return {};
}

bool is_quickly_charted(const Engine& engine, const Course& course) {
  return course.parts.wishes.index.empty() && !wants_memories(engine, course) &&
         !engine.rules.plan.fallback && !course.parts.wishes.fallback && engine.models.is_known(course.berth);
}

Result<void> chart(Engine& engine, Course& course, Deadline deadline) {
  const RequestModels models(engine.models, deadline,
                             {.owner = course.ask.caller.owner,
                              .most = course.ask.window_wish,
                              .with_override = !course.stand_in,
                              .with_learned = course.with_learned,
                              .told = course.told_window});
  ++course.plans;
  if (!is_chat(course)) return chart_other(engine, course, models);
  PlanOptions options = options_for(engine, course);
  if (course.plans == 1 && wants_memories(engine, course)) {
    TRY(const PlanModel model, models.open(course.model));
    recall_memories(engine, course, model, options.compress_above_pct, deadline);
  }
  if (course.plans == 1 && holds_data(course.parts)) {
    TRY(const PlanModel model, models.open(course.model));
    defuse_request(model, course);
  }
  // History is compressed before a larger model is looked for, so the first plan is for the one that was
  // asked for.
  const bool falls_back = std::exchange(options.fallback, false);
  TRY_VOID(draw(engine, course, options, models, deadline));
  if (course.compression_due) return {};
  if (falls_back && course.plan.fallback.needed) {
    options.fallback = true;
    TRY_VOID(draw(engine, course, options, models, deadline));
    course.compression_due = false;
  }
  if (!course.plan.fits && summary_of(course.parts) != nullptr) {
    course.parts.compressed->is_dropped = true;
    TRY_VOID(draw(engine, course, options, models, deadline));
    course.compression_due = false;
  }
  list_left_memories(course);
  const Plan& plan = course.plan;
  Trace& trace = course.trace;
  trace.plan_us = course.microseconds() - trace.retrieve_us;
  trace.window = plan.window.tokens;
  trace.input = plan.input;
  trace.thinking = plan.thinking;
  trace.answer = plan.answer;
  trace.margin = plan.margin;
  trace.exactness = plan.exactness;
  tell_stand_in(course);
  log_budget(course);
  log_fallback(course, falls_back);
  if (!plan.fits) return refuse(course);
  TRY(course.berth, engine.models.fleet().find(plan.fallback.to.empty() ? course.model : plan.fallback.to));
  trace.model = course.berth.model;
  trace.upstream = engine.models.fleet().members()[course.berth.member].name;
  if (!plan.fallback.to.empty())
    log::info("request made for the fallback model", {{"trace", trace.id},
                                                      {"model", trace.model},
                                                      {"upstream", trace.upstream},
                                                      {"window", trace.window}});
  course.body = plan.untouched ? std::string() : plan.request;
  trace.changed = !plan.untouched;
  ask_for_usage(engine, course);
  return {};
}

}  // namespace plimsoll::engine
