#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "count/defuse.hpp"
#include "engine/course.hpp"
#include "engine/plan.hpp"
#include "engine/protect.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

// ---- What is data stays data (U4) ----

std::size_t defuse_text(const PlanModel& model, std::string& text) {
  if (model.chat.specials != Specials::parsed) return 0;
  count::Defused defused = count::defuse(model.tokenizer, text);
  if (defused.found > 0) text = std::move(defused.text);
  return defused.found;
}

// Also what would end the block that passages stand in.
std::size_t make_harmless(const PlanModel& model, std::string& text) {
  std::size_t found = defuse_text(model, text);
  for (std::size_t at = text.find("passage"); at != std::string::npos; at = text.find("passage", at + 1)) {
    const bool closes = at >= 2 && text.compare(at - 2, 2, "</") == 0;
    const bool opens = at >= 1 && text[at - 1] == '<';
    if (!closes && !opens) continue;
    text.insert(closes ? at - 1 : at, " ");
    ++found;
  }
  return found;
}

bool is_result(const Json& message) {
  return message["role"] == "tool" || message["role"] == "function";
}

bool holds_data(const RequestParts& parts) {
  return !parts.passages.empty() || !parts.facts.empty() ||
         std::ranges::any_of(parts.body["messages"], is_result);
}

std::size_t defuse_text(const PlanModel& model, Json& text) {
  return text.is_string() ? defuse_text(model, text.get_ref<std::string&>()) : 0;
}

// Text, or parts of it.
std::size_t defuse_content(const PlanModel& model, Json& content) {
  if (!content.is_array()) return defuse_text(model, content);
  std::size_t found = 0;
  for (Json& part : content)
    if (const auto text = part.find("text"); text != part.end()) found += defuse_text(model, *text);
  return found;
}

// Tools' results, and passages and facts that the client brought.
void defuse_request(const PlanModel& model, Course& course) {
  std::size_t found = 0;
  for (Json& message : course.parts.body["messages"]) {
    if (!is_result(message)) continue;
    const auto content = message.find("content");
    if (content != message.end()) found += defuse_content(model, *content);
    course.parts.altered = course.parts.altered || found > 0;
  }
  for (render::Passage& passage : course.parts.passages) found += make_harmless(model, passage.text);
  for (render::Fact& fact : course.parts.facts) found += make_harmless(model, fact.text);
  if (found > 0)
    course.trace.warnings.push_back(fmt::format(
        "{} spellings of special tokens in tools' results, passages or memories were made harmless", found));
}

// ---- Documents ----

PassageOrder order_for(const Engine& engine, const Course& course) {
  if (course.parts.wishes.order) return *course.parts.wishes.order;
  const bool ollama = engine.models.fleet().kind_of(course.berth.member) == ServerKind::ollama;
  return ollama && engine.rules.best_last_for_ollama ? PassageOrder::best_last : PassageOrder::document;
}

// What a passage's document is called in the prompt. The digits of a hash cost more tokens than a sentence,
// and tell a model nothing: the first of them keep documents apart.
std::string_view label_of(std::string_view key) {
  constexpr std::size_t hash_digits = 64, shown_digits = 8;
  const bool hash =
      key.size() == hash_digits && key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hash ? key.substr(0, shown_digits) : key;
}

void put_aboard(Course& course, const PlanModel& model, std::vector<FoundPassage> found) {
  course.parts.passages.clear();
  course.parts.score.clear();
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const SelectedPassage& passage = found[i].passage;
    std::string text = passage.lead.empty() ? passage.text : passage.lead + "\n" + passage.text;
    harmless += make_harmless(model, text);
    course.parts.passages.push_back({fmt::format("{}: {}{}{}", i + 1, label_of(passage.key),
                                                 passage.path.empty() ? "" : " > ", passage.path),
                                     std::move(text)});
    course.parts.score.push_back(static_cast<double>(passage.score));
  }
  if (harmless > 0)
    course.trace.warnings.push_back(
        fmt::format("{} spellings of special tokens in passages were made harmless", harmless));
  course.passages = std::move(found);
}

// Tokens of passages that the plan left out.
Tokens dropped_passages(const Plan& plan) {
  Tokens tokens = 0;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.section == SectionKind::context && piece.fate != Fate::kept) tokens += piece.tokens;
  return tokens;
}

Tokens context_grant(const Plan& plan) {
  return plan.sections[static_cast<std::size_t>(SectionKind::context)].grant;
}

// What the first selection may take: all the room there is, and at least a fair share of a window that
// history has filled; the negotiator has the last word.
Tokens first_budget(const Course& course, const Plan& without) {
  const Tokens fair = std::min<Tokens>(4'000, without.window.tokens / 4);
  Tokens room = std::max(without.left, fair);
  if (course.retrieval) room = std::min(room, course.retrieval->room.room);
  return course.parts.wishes.budget ? std::min(room, *course.parts.wishes.budget) : room;
}

// Chooses passages for what the negotiator grants them: a selection for all the room first, and where that
// does not go aboard whole, one that is made for the grant.
Result<void> plan_with_documents(Engine& engine, Course& course, const PlanOptions& options,
                                 const PlanModels& models, Deadline deadline) {
  const auto begin = Deadline::Clock::now();
  ConsultRules rules = engine.rules.consult;
  rules.order = order_for(engine, course);
  // Who names a share or a budget knows why; else passages get what holds the evidence, and not all there is.
  if (course.parts.wishes.budget || course.parts.context_ratio) rules.passages = budget::most_tokens;
  course.parts.passages.clear();
  course.parts.score.clear();
  TRY(Plan without, plan_parts(course.parts, course.model, options, models));
  if (without.policy == Policy::document_chat && !course.parts.context_ratio) {
    course.retrieval = choose_retrieval(
        without, options, course.ask.documents ? course.ask.documents->top_k : options.retrieval.max_top_k);
    rules.most_passages = static_cast<std::size_t>(course.retrieval->used());
    if (course.plans == 1) log_retrieval(*course.retrieval, rules.order == PassageOrder::best_last);
    if (course.plans == 1 && course.retrieval->used() == 0)
      course.trace.warnings.emplace_back(
          "there is no room for passages beside the question and the answer (B1)");
  }
  if (!course.findings) {
    TRY(course.findings, find_in_documents(*engine.shelf, course.ask.caller.indexes, course.parts,
                                           without.window.tokens - without.input, rules, deadline));
    for (const std::string& note : course.findings->notes) course.trace.warnings.push_back(note);
  }
  TRY(const PlanModel model, models.open(without.fallback.to.empty() ? course.model : without.fallback.to));
  constexpr int most_selections = 4;
  Tokens budget = first_budget(course, without);
  course.plan = std::move(without);
  for (int round = 0; round < most_selections && budget > 0; ++round) {
    TRY(Reading reading,
        read_documents(*course.findings, course.parts, model, course.plan.input, budget, rules));
    if (reading.passages.empty()) break;
    put_aboard(course, model, std::move(reading.passages));
    TRY(course.plan, plan_parts(course.parts, course.model, options, models));
    course.plan.strategy = std::move(reading.strategy);
    const Tokens dropped = dropped_passages(course.plan);
    if (dropped == 0) break;
    budget =
        std::min(budget - 1, context_grant(course.plan) - std::min(dropped, context_grant(course.plan) / 8));
  }
  course.trace.retrieve_us +=
      std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
  return {};
}

// ---- The whole ----

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

Result<void> refuse(const Course& course) {
  const Plan& plan = course.plan;
  return fail(
      Errc::over_budget,
      "Prompt length exceeds context window. {} tokens are the least that this request needs (input {}, "
      "thinking {}, answer {}, margin {}), and {} has {} ({}). Shorten the request, lower max_tokens, "
      "choose a model with a larger window, or allow a fallback (llm_fallback_enabled).",
      with_thousands(plan.least), with_thousands(plan.input), with_thousands(plan.thinking),
      with_thousands(plan.answer), with_thousands(plan.margin), plan.model,
      with_thousands(plan.window.tokens), name_of(plan.window.source));
}

void log_plan(const Course& course) {
  const Plan& plan = course.plan;
  if (plan.requested_answer && plan.answer < *plan.requested_answer)
    log::warning("answer reduced", {{"trace", course.trace.id},
                                    {"window", plan.window.tokens},
                                    {"input", plan.input},
                                    {"requested", *plan.requested_answer},
                                    {"adjusted", plan.answer},
                                    {"mark", "REDUCED"}});
  if (!plan.fallback.needed) return;
  if (!plan.fallback.to.empty())
    log::info("falling back", {{"trace", course.trace.id},
                               {"from", plan.fallback.from},
                               {"to", plan.fallback.to},
                               {"total", plan.fallback.total},
                               {"threshold", plan.fallback.threshold},
                               {"window", plan.window.tokens}});
  else
    log::warning("no fallback", {{"trace", course.trace.id}, {"why", plan.fallback.reason}});
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
  const auto model = body.find("model");
  if (model != body.end() && model->is_string()) course.model = model->get<std::string>();
  course.trace.asked_model = course.model;
  course.trace.session = wishes.session;
  const auto stream = body.find("stream");
  course.stream = stream != body.end() && stream->is_boolean() && stream->get<bool>();
  const auto streaming = body.find("stream_options");
  course.wants_usage = streaming != body.end() && streaming->is_object() &&
                       streaming->contains("include_usage") && (*streaming)["include_usage"] == true;
  if (const auto ratio = course.parts.context_ratio; ratio && !(*ratio >= 0.2 && *ratio <= 0.8))
    return fail(Errc::bad_input, "Invalid context_token_ratio: {}. Must be between 0.2 and 0.8.", *ratio);

  // MODEL+INDEX, for clients that can only choose a model.
  const std::size_t plus = course.model.rfind('+');
  if (wishes.index.empty() && plus != std::string::npos && engine.shelf != nullptr) {
    const Fleet& fleet = engine.models.fleet();
    const std::string index = course.model.substr(plus + 1), plain = course.model.substr(0, plus);
    if (!fleet.has(course.model) &&
        (fleet.has(plain) || engine.shelf->has(course.ask.caller.indexes, index))) {
      wishes.index = index;
      course.model = plain;
      course.parts.altered = true;
    }
  }
  course.names_index = !wishes.index.empty();
  if (course.names_index) {
    if (engine.shelf == nullptr) return fail(Errc::not_found, "No such index: '{}' exists.", wishes.index);
    if (const std::string why = why_not_documents(body); !why.empty()) {
      course.trace.warnings.push_back(fmt::format("documents were not looked into: {}", why));
      wishes.index.clear();
      course.parts.altered = true;
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
  return course.parts.wishes.index.empty() && !engine.rules.plan.fallback && !course.parts.wishes.fallback &&
         engine.models.is_known(course.berth);
}

Result<void> chart(Engine& engine, Course& course, Deadline deadline) {
  const RequestModels models(engine.models, deadline, course.ask.window_wish);
  ++course.plans;
  if (!is_chat(course)) return chart_other(engine, course, models);
  const PlanOptions options = options_for(engine, course);
  if (course.plans == 1 && holds_data(course.parts)) {
    TRY(const PlanModel model, models.open(course.model));
    defuse_request(model, course);
  }
  if (course.parts.wishes.index.empty()) {
    TRY(course.plan, plan_parts(course.parts, course.model, options, models));
  } else {
    TRY_VOID(plan_with_documents(engine, course, options, models, deadline));
  }
  const Plan& plan = course.plan;
  Trace& trace = course.trace;
  trace.plan_us = course.microseconds() - trace.retrieve_us;
  trace.window = plan.window.tokens;
  trace.input = plan.input;
  trace.thinking = plan.thinking;
  trace.answer = plan.answer;
  trace.margin = plan.margin;
  trace.exactness = plan.exactness;
  log_plan(course);
  if (!plan.fits) return refuse(course);
  TRY(course.berth, engine.models.fleet().find(plan.fallback.to.empty() ? course.model : plan.fallback.to));
  trace.model = course.berth.model;
  trace.upstream = engine.models.fleet().members()[course.berth.member].name;
  course.body = plan.untouched ? std::string() : plan.request;
  trace.changed = !plan.untouched;
  ask_for_usage(engine, course);
  return {};
}

}  // namespace plimsoll::engine
