#include "adapters/weaviate/collection.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <thread>

#include "base/json/json_member.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"

namespace plimsoll::weaviate {
namespace {

constexpr std::string_view quorum = "?consistency_level=QUORUM";

// Too few nodes answered each other; they may do so later.
bool is_passing(std::string_view problem) {
  constexpr std::array<std::string_view, 8> signs{
      "consistency level", "connect", "timeout", "deadline", "leader", "rpc error", "shut", "not ready"};
  return problem.empty() || std::ranges::any_of(signs, [&](std::string_view sign) {
           return problem.find(sign) != std::string_view::npos;
         });
}

tl::unexpected<Error> refused_change(std::string_view what, int status, std::string_view problem) {
  return fail(is_passing(problem) ? Errc::unreachable : Errc::upstream_failed,
              "the index store does not {} (status {}{}{})", what, status, problem.empty() ? "" : ": ",
              problem);
}

// As JSON, and as GraphQL, which has no quotes around names.
std::string filter_of(std::span<const Removed> ranges, std::string_view quote) {
  const auto bound = [&](std::string_view op, ChunkId value) {
    return fmt::format("{{{0}path{0}:[\"chunk\"],{0}operator{0}:{0}{1}{0},{0}valueNumber{0}:{2}}}", quote, op,
                       value);
  };
  std::string operands;
  for (const Removed& range : ranges)
    operands += fmt::format("{3}{{{0}operator{0}:{0}And{0},{0}operands{0}:[{1},{2}]}}", quote,
                            bound("GreaterThanEqual", range.first), bound("LessThanEqual", range.last),
                            operands.empty() ? "" : ",");
  return fmt::format("{{{0}operator{0}:{0}Or{0},{0}operands{0}:[{1}]}}", quote, operands);
}

}  // namespace

Result<Collection::Found> Collection::find() const {
  TRY(const Answer schema, nodes_.ask("GET", "/v1/schema/" + name_, {}, nodes_.for_search()));
  if (schema.status == 404) return Found{Condition::absent, {}};
  if (schema.status != 200)
    return refused_change("describe a collection", schema.status, problem_in(schema.body));
  if (!is_our_schema(schema.body, embedders_)) return Found{Condition::unusable, {}};
  const std::string path =
      fmt::format("/v1/objects/{}/{}{}", name_, object_id(0, 0), is_replicated() ? quorum : "");
  TRY(const Answer object, nodes_.ask("GET", path, {}, nodes_.for_search()));
  if (object.status == 404) return Found{Condition::unusable, {}};
  if (object.status != 200) return refused_change("return an object", object.status, problem_in(object.body));
  const auto progress = read_progress(base::text_in(base::member(object.body, "properties"), "state"));
  if (!progress) return Found{Condition::unusable, {}};
  return Found{Condition::usable, *progress};
}

Result<void> Collection::remove() const {
  TRY(const Answer answer, nodes_.ask("DELETE", "/v1/schema/" + name_, {}, nodes_.for_write()));
  if (answer.status == 200 || answer.status == 404) return {};
  return refused_change("remove a collection", answer.status, problem_in(answer.body));
}

Result<Progress> Collection::make(Revision revision) const {
  TRY(const Answer answer,
      nodes_.ask("POST", "/v1/schema", collection_schema(name_, embedders_, nodes_.options().address),
                 nodes_.for_write()));
  const std::string problem = problem_in(answer.body);
  if (problem.find("already exists") != std::string::npos)
    return fail(Errc::unreachable, "the index store {} is starting; try again later",
                nodes_.options().address.shown);
  if (answer.status != 200) return refused_change("make a collection", answer.status, problem);
  Progress progress;
  progress.revision = revision;
  TRY_VOID(note(progress));
  return progress;
}

Result<Progress> Collection::make_anew(Revision revision) const {
  TRY(const bool all_there, nodes_.are_all_there());
  if (!all_there)
    return fail(Errc::unreachable, "not all nodes of the index store {} answer; try again later",
                nodes_.options().address.shown);
  TRY_VOID(remove());
  return make(revision);
}

// Returns the ids of the objects that were not stored. `problem`: why the first of them was not.
Result<std::vector<std::string>> Collection::send(const std::vector<WrittenObject>& objects,
                                                  std::string& problem) const {
  std::string body = "{\"objects\":";
  char before = '[';
  for (const WrittenObject& object : objects) {
    body += std::exchange(before, ',');
    body += object.json;
  }
  body += "]}";
  TRY(const Answer answer,
      nodes_.ask("POST", fmt::format("/v1/batch/objects{}", is_replicated() ? quorum : ""), std::move(body),
                 nodes_.for_write()));
  if (answer.status != 200) return refused_change("store objects", answer.status, problem_in(answer.body));
  std::set<std::string> stored;
  for (const Json& one : base::list_in(answer.body)) {
    const Json& result = base::member(one, "result");
    if (base::text_in(result, "status") == "SUCCESS") stored.insert(base::text_in(one, "id"));
    if (problem.empty()) problem = problem_in(base::member(result, "errors"));
  }
  std::vector<std::string> failed;
  for (const WrittenObject& object : objects)
    if (!stored.contains(object.id)) failed.push_back(object.id);
  return failed;
}

Result<void> Collection::put(std::vector<WrittenObject> objects) const {
  std::chrono::milliseconds pause = nodes_.options().first_pause;
  for (int tries = 1; !objects.empty(); ++tries) {
    std::string problem;
    auto failed = send(objects, problem);
    const bool is_last = tries >= nodes_.options().most_tries;
    if (!failed && (is_last || failed.error().code != Errc::unreachable))
      return tl::unexpected(std::move(failed).error());
    if (failed) {
      std::erase_if(objects, [&](const WrittenObject& object) {
        return std::ranges::find(*failed, object.id) == failed->end();
      });
      if (objects.empty()) return {};
      if (is_last || !is_passing(problem))
        return fail(is_passing(problem) ? Errc::unreachable : Errc::upstream_failed,
                    "the index store {} did not store {} objects after {} tries ({})",
                    nodes_.options().address.shown, objects.size(), tries, problem);
    }
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
  return {};
}

Result<void> Collection::note(const Progress& progress) const {
  std::vector<WrittenObject> one(1);
  one[0] = {object_id(0, 0), progress_object(name_, progress), 0};
  return put(std::move(one));
}

Result<Collection::Erased> Collection::erase(std::span<const Removed> ranges) const {
  constexpr ChunkId most_chunks = 5'000;  // the server removes and returns at most 10,000 objects at a time
  constexpr std::size_t most_ranges = 64;
  Erased out;
  std::vector<Removed> some;
  ChunkId chunks = 0;
  const auto flush = [&]() -> Result<void> {
    if (some.empty()) return {};
    TRY(const Erased erased, erase_some(some));
    out.chunks += erased.chunks;
    out.words += erased.words;
    some.clear();
    chunks = 0;
    return {};
  };
  for (const Removed& range : ranges) {
    for (ChunkId first = std::max<ChunkId>(1, range.first); first <= range.last;) {
      const ChunkId last = std::min(range.last, first + most_chunks - chunks - 1);
      some.push_back({first, last});
      chunks += last - first + 1;
      first = last + 1;
      if (chunks >= most_chunks || some.size() >= most_ranges) TRY_VOID(flush());
    }
  }
  TRY_VOID(flush());
  return out;
}

Result<Collection::Erased> Collection::erase_some(std::span<const Removed> ranges) const {
  TRY(const Json found,
      nodes_.query(fmt::format("{{Get{{{}(where:{},limit:10000){{length}}}}}}", name_, filter_of(ranges, "")),
                   nodes_.for_search()));
  Erased out;
  for (const Json& one : base::list_in(base::member(base::member(found, "Get"), name_.c_str()))) {
    const Json& length = base::member(one, "length");
    ++out.chunks;
    if (length.is_number()) out.words += static_cast<std::int64_t>(length.get<double>());
  }
  // Also if none was found: a node may be late.
  TRY_VOID(erase_matching(fmt::format(R"({{"match":{{"class":"{}","where":{}}},"output":"minimal"}})", name_,
                                      filter_of(ranges, "\""))));
  return out;
}

Result<void> Collection::erase_matching(const std::string& body) const {
  std::chrono::milliseconds pause = nodes_.options().first_pause;
  for (int tries = 1;; ++tries) {
    TRY(const Answer answer,
        nodes_.ask("DELETE", fmt::format("/v1/batch/objects{}", is_replicated() ? quorum : ""), body,
                   nodes_.for_write()));
    const Json& failed = base::member(base::member(answer.body, "results"), "failed");
    if (answer.status == 200 && failed.is_number() && failed.get<double>() == 0) return {};
    const std::string problem = problem_in(answer.body);
    if (answer.status != 200 && !is_passing(problem))
      return refused_change("remove objects", answer.status, problem);
    if (tries >= nodes_.options().most_tries)
      return fail(Errc::unreachable, "the index store {} did not remove all objects after {} tries",
                  nodes_.options().address.shown, tries);
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

Result<std::int64_t> Collection::count() const {
  TRY(const Json found,
      nodes_.query(fmt::format("{{Aggregate{{{}{{meta{{count}}}}}}}}", name_), nodes_.for_search()));
  for (const Json& one : base::list_in(base::member(base::member(found, "Aggregate"), name_.c_str()))) {
    const Json& count = base::member(base::member(one, "meta"), "count");
    if (count.is_number())
      return static_cast<std::int64_t>(count.get<double>()) - 1;  // the note of the progress
  }
  return fail(Errc::upstream_failed, "the index store {} does not count its objects",
              nodes_.options().address.shown);
}

Result<void> BatchSender::add(WrittenObject object) {
  bytes_ += object.json.size();
  batch_.push_back(std::move(object));
  if (batch_.size() < options_.batch_objects && bytes_ < options_.batch_bytes) return {};
  return send();
}

Result<void> BatchSender::send() {
  TRY_VOID(wait_for(options_.lanes - 1));
  sent_.push_back(std::async(std::launch::async, [this, batch = std::exchange(batch_, {})]() mutable {
    return collection_.put(std::move(batch));
  }));
  bytes_ = 0;
  return {};
}

Result<void> BatchSender::wait_for(std::size_t most) {
  while (sent_.size() > most) {
    auto done = sent_.front().get();
    sent_.pop_front();
    if (!done) return done;
  }
  return {};
}

Result<void> BatchSender::finish() {
  if (!batch_.empty()) TRY_VOID(send());
  return wait_for(0);
}

}  // namespace plimsoll::weaviate
