#include "gateway/documents/upload.hpp"

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/private_words.hpp"
#include "base/text/text.hpp"
#include "gateway/chat/chat_read.hpp"
#include "gateway/limits/fair_share.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::size_t most_told = 1'000;  // warnings and errors of a job

std::string_view name_of(library::FileStage stage) {
  switch (stage) {
    case library::FileStage::reading: return "reading";
    case library::FileStage::embedding: return "embedding";
    case library::FileStage::storing: break;
  }
  return "storing";
}

}  // namespace

// The request does not change; the mutex guards the rest.
struct Uploads::Job {
  std::string id;
  UploadAsk ask;

  std::mutex mutex;
  std::string_view status = "queued";
  std::string_view stage;
  std::string document;  // current
  std::size_t added = 0, updated = 0, unchanged = 0, failed = 0, chunks = 0, sentences = 0;
  Json warnings = Json::array(), errors = Json::array();

  std::size_t done() const { return added + updated + unchanged + failed; }
  Json json() {
    const std::lock_guard lock(mutex);
    return {{"job_id", id},
            {"status", status},
            {"index", ask.index},
            {"stage", stage.empty() ? Json() : Json(stage)},
            {"document", document.empty() ? Json() : Json(document)},
            {"documents",
             {{"total", ask.files.size()},
              {"done", done()},
              {"added", added},
              {"updated", updated},
              {"unchanged", unchanged},
              {"failed", failed}}},
            {"chunks", chunks},
            {"sentences", sentences},
            {"warnings", warnings},
            {"errors", errors}};
  }
  bool at(library::FileStage now, std::size_t more) {
    const std::lock_guard lock(mutex);
    stage = name_of(now);
    sentences += more;
    return true;
  }
  void began(const std::string& name) {
    const std::lock_guard lock(mutex);
    document = name;
  }
  void ended(const Result<library::FileOutcome>& outcome) {
    const std::lock_guard lock(mutex);
    stage = {};
    if (!outcome) {
      ++failed;
      if (errors.size() < most_told)
        errors.push_back({{"document", document}, {"error", base::for_clients(outcome.error().what)}});
      return;
    }
    ++(outcome->fate == library::FileFate::added     ? added
       : outcome->fate == library::FileFate::updated ? updated
                                                     : unchanged);
    chunks += outcome->chunks;
    for (const std::string& warning : outcome->warnings)
      if (warnings.size() < most_told)
        warnings.push_back({{"document", document}, {"warning", base::for_clients(warning)}});
  }
};

Uploads::Uploads(library::Collections& collections, SessionStore& store, UploadRules rules)
    : collections_(collections), store_(store), rules_(rules) {}

Uploads::~Uploads() {
  stopping_ = true;
  pool_.wait_until_idle(std::chrono::steady_clock::time_point::max());  // each job stores that it was stopped
}

Uploads::Accepted Uploads::accept(UploadAsk ask) {
  const std::size_t size = ask.body->size();
  if (size > rules_.bytes)
    return {{},
            413,
            fmt::format("the upload has {}; at most {} may wait at once (max_upload_bytes): send fewer files",
                        base::human_bytes(size), base::human_bytes(rules_.bytes))};
  auto job = std::make_shared<Job>();
  job->id = random_id();
  job->ask = std::move(ask);
  {
    const std::lock_guard lock(mutex_);
    const std::string& owner = job->ask.caller.owner;
    Share& own = owned_[owner];
    if (!may_have(owner, own.jobs, taken_.jobs, 1, rules_.jobs) ||
        !may_have(owner, own.bytes, taken_.bytes, size, rules_.bytes))
      return {
          {},
          429,
          fmt::format(
              "{} uploads of {} are waiting, {} of them yours; at most {} of {} may wait (max_upload_jobs, "
              "max_upload_bytes), and one key may hold as many as remain free; try again later",
              taken_.jobs, base::human_bytes(taken_.bytes), own.jobs, rules_.jobs,
              base::human_bytes(rules_.bytes))};
    live_[job->id] = job;
    for (Share* share : {&own, &taken_}) {
      share->jobs += 1;
      share->bytes += size;
    }
  }
  Run run;
  run.id = job->id;
  run.owner = job->ask.caller.owner;
  run.kind = "upload";
  run.asked = base::json_text(job->json());
  if (const auto begun = store_.begin_run(run, rules_.kept); !begun) {
    forget(*job);
    return {{}, 500, begun.error().what};
  }
  pool_.post(job->ask.caller.owner, [this, job] { work(job); });
  return {job->id, 202, {}};
}

void Uploads::forget(const Job& job) {
  const std::lock_guard lock(mutex_);
  if (live_.erase(job.id) == 0) return;
  const auto own = owned_.find(job.ask.caller.owner);
  for (Share* share : {&own->second, &taken_}) {
    share->jobs -= 1;
    share->bytes -= job.ask.body->size();
  }
  if (own->second.jobs == 0) owned_.erase(own);
}

void Uploads::put_all(Job& job) {
  for (const library::GivenFile& file : job.ask.files) {
    if (stopping_) return;
    job.began(file.name);
    const auto outcome = collections_.put_file(job.ask.caller.indexes, job.ask.index, file, job.ask.metadata,
                                               [&](library::FileStage stage, std::size_t sentences) {
                                                 return job.at(stage, sentences) && !stopping_;
                                               });
    if (stopping_ && !outcome) return;
    job.ended(outcome);
  }
}

void Uploads::work(const std::shared_ptr<Job>& job) {
  try {
    if (!stopping_) {
      {
        const std::lock_guard lock(job->mutex);
        job->status = "running";
      }
      put_all(*job);
    }
  } catch (const std::exception& bug) {
    log::error("an upload ended by an exception", {{"job", job->id}, {"what", bug.what()}});
    job->ended(fail(Errc::io_failed, "internal error; see the log"));
  }
  const bool all = job->done() >= job->ask.files.size();
  const bool none = job->failed > 0 && job->failed == job->done();
  const RunState state = stopping_ && !all ? RunState::interrupted
                         : none || !all    ? RunState::failed
                                           : RunState::done;
  job->began({});
  const auto kept = store_.end_run(job->ask.caller.owner, job->id, state, base::json_text(job->json()));
  if (!kept)
    log::warning("cannot store the end of an upload", {{"job", job->id}, {"why", kept.error().what}});
  forget(*job);
}

bool Uploads::is_over(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  return !live_.contains(job);
}

bool Uploads::are_under_way() const {
  const std::lock_guard lock(mutex_);
  return !live_.empty();
}

Result<Json> Uploads::shown(const std::string& owner, const std::string& id) const {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(id);
    if (found != live_.end() && found->second->ask.caller.owner == owner) job = found->second;
  }
  if (job) return job->json();
  const auto run = store_.run(owner, "upload", id);
  if (!run) return fail(run.error().code, "There is no job '{}'.", id);
  Json json = base::parse_json(run->outcome.empty() ? run->asked : run->outcome);
  if (!json.is_object()) return fail(Errc::damaged, "the stored job '{}' is damaged", id);
  json["status"] = plimsoll::name_of(run->state);
  json["created_ms"] = run->created_ms;
  json["ended_ms"] = run->ended_ms > 0 ? Json(run->ended_ms) : Json();
  if (run->state == RunState::interrupted)
    json["errors"].push_back(
        {{"document", nullptr},
         {"error", "the server was stopped before all documents were stored; send them again"}});
  return json;
}

}  // namespace plimsoll::gateway
