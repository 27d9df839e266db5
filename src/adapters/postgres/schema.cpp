#include "adapters/postgres/schema.hpp"

#include <iterator>
#include <optional>

#include "base/try.hpp"

namespace plimsoll::postgres {
namespace {

// Migration i brings the tables of version i to version i + 1. A migration that was released is never
// changed.
//
// What comes from clients is bytea: PostgreSQL's text has no zero bytes and must be UTF-8. Text has the
// collation "C", which compares bytes.
constexpr const char* migrations[] = {
    R"sql(
CREATE TABLE keys (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL UNIQUE,
  hash text COLLATE "C" NOT NULL UNIQUE,
  created_ms bigint NOT NULL,
  private_indexes boolean NOT NULL,
  requests_per_minute bigint NOT NULL,
  tokens_per_minute bigint NOT NULL,
  tokens_per_day bigint NOT NULL,
  revoked boolean NOT NULL
);
CREATE TABLE usage (
  day bigint NOT NULL,
  owner text COLLATE "C" NOT NULL,
  model bytea NOT NULL,
  section text COLLATE "C" NOT NULL,
  tokens bigint NOT NULL,
  requests bigint NOT NULL,
  nano_usd bigint NOT NULL,
  priced bigint NOT NULL,
  PRIMARY KEY (day, owner, model, section)
) WITH (fillfactor = 70);

-- Limits. `requests` and `tokens` hold what each of 61 seconds took, second s in element s % 61 + 1; `slot` is the
-- newest second. Any 60 s lie within 61 of them, so their sum is never less than what a minute took.
CREATE TABLE limits (
  owner text COLLATE "C" PRIMARY KEY,
  slot bigint NOT NULL,
  requests bigint[] NOT NULL,
  tokens bigint[] NOT NULL,
  day bigint NOT NULL,
  used bigint NOT NULL,
  reserved bigint NOT NULL
) WITH (fillfactor = 30);

-- The row of an owner as it is now, on the clock of this server, which all gateways share. The caller has locked it.
CREATE FUNCTION limits_now(of_owner text, OUT r limits, OUT now_ms bigint) LANGUAGE plpgsql AS $$
BEGIN
  SELECT * INTO r FROM limits WHERE owner = of_owner;
  now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  IF r.owner IS NULL THEN
    r.owner := of_owner;
    r.slot := now_ms / 1000;
    r.requests := array_fill(0::bigint, ARRAY[61]);
    r.tokens := r.requests;
    r.day := now_ms / 86400000;
    r.used := (SELECT coalesce(sum(u.tokens), 0) FROM usage u WHERE u.day = r.day AND u.owner = of_owner);
    r.reserved := 0;
  END IF;
  now_ms := greatest(now_ms, r.slot * 1000);  -- a clock that was set back stands still
  WHILE r.slot < now_ms / 1000 LOOP
    r.slot := greatest(r.slot + 1, now_ms / 1000 - 60);
    r.requests[r.slot % 61 + 1] := 0;
    r.tokens[r.slot % 61 + 1] := 0;
  END LOOP;
  IF now_ms / 86400000 > r.day THEN
    r.day := now_ms / 86400000;
    r.used := 0;
    r.reserved := 0;  -- of the day before, and counted there
  END IF;
END $$;

-- How long until `amount` fits below `most`, when seconds fall out of the window one by one.
CREATE FUNCTION limits_wait(taken bigint[], slot bigint, now_ms bigint, amount bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  left_over bigint := (SELECT sum(one) FROM unnest(taken) AS one);
  oldest bigint := slot - 60;
BEGIN
  IF left_over + amount <= most THEN
    RETURN 0;
  END IF;
  WHILE left_over + amount > most AND oldest <= slot LOOP
    left_over := left_over - taken[oldest % 61 + 1];
    oldest := oldest + 1;
  END LOOP;
  RETURN greatest(1, (oldest + 60) * 1000 - now_ms);
END $$;

CREATE FUNCTION limits_save(r limits) RETURNS void LANGUAGE sql AS $$
  INSERT INTO limits SELECT (r).*
  ON CONFLICT (owner) DO UPDATE SET slot = excluded.slot, requests = excluded.requests, tokens = excluded.tokens,
    day = excluded.day, used = excluded.used, reserved = excluded.reserved;
$$;

-- Takes what a request needs, or nothing. Twin of MemoryLimits::take in src/gateway/auth/memory_limits.cpp.
-- beyond: 0 nothing, 1 requests of a minute, 2 tokens of a minute, 3 tokens of the day, 4 the same while others run.
CREATE FUNCTION limits_take(
  lock bigint, of_owner text, requests_most bigint, minute_most bigint, day_most bigint, wanted bigint,
  look_minute bigint, look_day bigint, input bigint, answer bigint, may_shrink boolean, usual bigint, share bigint,
  OUT beyond bigint, OUT wait_ms bigint, OUT granted bigint, OUT of_minute bigint, OUT of_day bigint, OUT slot bigint,
  OUT day bigint, OUT requests_left bigint, OUT minute_left bigint, OUT used bigint, OUT reserved bigint)
LANGUAGE plpgsql AS $$
DECLARE
  known record;
  r limits;
  now_ms bigint;
  place bigint;
  rest bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(lock);
  SELECT * INTO known FROM limits_now(of_owner);
  r := known.r;
  now_ms := known.now_ms;
  granted := answer;
  IF may_shrink AND day_most > 0 THEN
    rest := greatest(0, day_most - r.used - r.reserved);
    granted := least(answer, greatest(rest / share, greatest(1, least(rest - input, usual))));
  END IF;
  of_day := input + granted;
  of_minute := of_day;
  IF may_shrink THEN
    of_minute := input + least(granted, greatest(usual, minute_most / share));
  END IF;
  beyond := 0;
  wait_ms := 0;
  IF requests_most > 0 AND wanted > 0 THEN
    wait_ms := limits_wait(r.requests, r.slot, now_ms, wanted, requests_most);
    IF wait_ms > 0 THEN beyond := 1; END IF;
  END IF;
  IF beyond = 0 AND minute_most > 0 AND (look_minute > 0 OR look_day > 0 OR of_day > 0) THEN
    wait_ms := limits_wait(r.tokens, r.slot, now_ms, least(greatest(look_minute, of_minute), minute_most), minute_most);
    IF wait_ms > 0 THEN beyond := 2; END IF;
  END IF;
  IF beyond = 0 AND day_most > 0 AND greatest(look_day, of_day) > 0 AND r.used + r.reserved + greatest(look_day, of_day) > day_most THEN
    beyond := CASE WHEN r.used + greatest(look_day, of_day) <= day_most THEN 4 ELSE 3 END;
  END IF;
  IF beyond = 0 AND (wanted > 0 OR of_day > 0) THEN
    place := r.slot % 61 + 1;
    r.requests[place] := r.requests[place] + wanted;
    r.tokens[place] := r.tokens[place] + of_minute;
    r.reserved := r.reserved + of_day;
    PERFORM limits_save(r);
  END IF;
  slot := r.slot;
  day := r.day;
  used := r.used;
  reserved := r.reserved;
  requests_left := greatest(0, requests_most - (SELECT sum(one) FROM unnest(r.requests) AS one));
  minute_left := greatest(0, minute_most - (SELECT sum(one) FROM unnest(r.tokens) AS one));
END $$;

-- Replaces what was reserved by what was used. What was used more than that counts from now on.
CREATE FUNCTION limits_settle(
  lock bigint, of_owner text, used_now bigint, of_minute bigint, of_day bigint, at_slot bigint, at_day bigint,
  OUT day bigint, OUT used_before bigint, OUT used bigint, OUT reserved bigint)
LANGUAGE plpgsql AS $$
DECLARE
  known record;
  r limits;
  now_ms bigint;
  place bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(lock);
  SELECT * INTO known FROM limits_now(of_owner);
  r := known.r;
  now_ms := known.now_ms;
  used_before := r.used;
  IF at_day = r.day OR at_day = 0 THEN
    r.used := least(1000000000000000, r.used + used_now);
    r.reserved := greatest(0, r.reserved - of_day);
  END IF;
  place := r.slot % 61 + 1;
  IF used_now > of_minute THEN
    r.tokens[place] := r.tokens[place] + used_now - of_minute;
  ELSIF at_slot > r.slot - 61 THEN
    place := at_slot % 61 + 1;
    r.tokens[place] := greatest(0, r.tokens[place] - (of_minute - used_now));
  END IF;
  PERFORM limits_save(r);
  day := r.day;
  used := r.used;
  reserved := r.reserved;
END $$;

-- Traces. `number` rises in the order in which they are committed: one transaction at a time writes them. The shares
-- tell how much there is, and whose, without reading the table.
CREATE TABLE traces (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  owner text COLLATE "C" NOT NULL,
  session bytea NOT NULL,
  at_ms bigint NOT NULL,
  bytes bigint NOT NULL,
  json bytea NOT NULL
);
CREATE INDEX traces_by_owner ON traces (owner, id);
CREATE INDEX traces_by_session ON traces (owner, session, id) WHERE session <> ''::bytea;
CREATE INDEX traces_by_time ON traces (at_ms);
CREATE TABLE trace_shares (owner text COLLATE "C" PRIMARY KEY, count bigint NOT NULL, bytes bigint NOT NULL)
  WITH (fillfactor = 50);
CREATE FUNCTION trace_shares_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trace_shares SELECT owner, count(*), sum(bytes) FROM added GROUP BY owner ORDER BY owner
    ON CONFLICT (owner) DO UPDATE SET count = trace_shares.count + excluded.count,
      bytes = trace_shares.bytes + excluded.bytes;
  RETURN NULL;
END $$;
CREATE FUNCTION trace_shares_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trace_shares SELECT owner, -count(*), -sum(bytes) FROM removed GROUP BY owner ORDER BY owner
    ON CONFLICT (owner) DO UPDATE SET count = trace_shares.count + excluded.count,
      bytes = trace_shares.bytes + excluded.bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER traces_added AFTER INSERT ON traces REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION trace_shares_added();
CREATE TRIGGER traces_changed_from AFTER UPDATE ON traces REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION trace_shares_removed();
CREATE TRIGGER traces_changed_to AFTER UPDATE ON traces REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION trace_shares_added();
CREATE TRIGGER traces_removed AFTER DELETE ON traces REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION trace_shares_removed();

-- Removes what is beyond the limits, oldest first, and of the owner who has most, down to what the next one has:
-- nobody's traffic drives out the traces of those who have less. Returns how many are gone, at most `at_once`.
CREATE FUNCTION traces_prune(oldest_ms bigint, count_most bigint, bytes_most bigint, at_once bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  gone bigint := 0;
  removed bigint;
  count_over bigint;
  bytes_over bigint;
  largest record;
BEGIN
  DELETE FROM traces WHERE number IN (
    SELECT number FROM traces WHERE at_ms < oldest_ms ORDER BY at_ms LIMIT at_once);
  GET DIAGNOSTICS gone = ROW_COUNT;
  WHILE gone < at_once LOOP
    SELECT sum(count) - count_most, sum(bytes) - bytes_most INTO count_over, bytes_over FROM trace_shares;
    EXIT WHEN count_over IS NULL OR (count_over <= 0 AND bytes_over <= 0);
    SELECT owner, size - coalesce(lead(size) OVER (ORDER BY size DESC), 0) AS above INTO largest
      FROM (SELECT owner, CASE WHEN bytes_over > 0 THEN bytes ELSE count END AS size FROM trace_shares) AS sizes
      ORDER BY size DESC LIMIT 1;
    -- A trace goes while those before it were not enough and did not bring the owner below the next one.
    WITH list AS (
      SELECT number, row_number() OVER w - 1 AS before_count, sum(bytes) OVER w - bytes AS before_bytes
      FROM (SELECT number, id, bytes FROM traces WHERE owner = largest.owner ORDER BY id LIMIT at_once - gone) AS oldest
      WINDOW w AS (ORDER BY id))
    DELETE FROM traces USING list WHERE traces.number = list.number
      AND (before_count < count_over OR before_bytes < bytes_over)
      AND (before_count = 0 OR CASE WHEN bytes_over > 0 THEN before_bytes ELSE before_count END <= largest.above);
    GET DIAGNOSTICS removed = ROW_COUNT;
    EXIT WHEN removed = 0;
    gone := gone + removed;
  END LOOP;
  RETURN gone;
END $$;

CREATE TABLE drift (
  upstream bytea NOT NULL,
  model bytea NOT NULL,
  format bytea NOT NULL,
  owner text COLLATE "C" NOT NULL,
  seen bigint NOT NULL,
  at_ms bigint NOT NULL,
  differences bigint[] NOT NULL,
  times_ms bigint[] NOT NULL,
  PRIMARY KEY (upstream, model, format, owner)
);
CREATE INDEX drift_by_time ON drift (at_ms);
CREATE TABLE forget_orders (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms bigint NOT NULL,
  model bytea NOT NULL
);

-- Conversations. Totals of a session are in its row, so that checking the limits reads nothing else. Summaries and
-- vectors belong to a session that need not have turns here; where it has, they are removed with it.
CREATE TABLE sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  name bytea NOT NULL,
  created_ms bigint NOT NULL,
  updated_ms bigint NOT NULL,
  turns bigint NOT NULL,
  bytes bigint NOT NULL,
  UNIQUE (owner, name)
) WITH (fillfactor = 70);
CREATE INDEX sessions_by_time ON sessions (owner, updated_ms);
CREATE TABLE turns (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL,
  role bytea NOT NULL,
  at_ms bigint NOT NULL,
  trace bytea NOT NULL,
  collection bytea NOT NULL,
  model bytea NOT NULL,
  text bytea NOT NULL
);
CREATE INDEX turns_by_session ON turns (session_id, id);
CREATE TABLE summaries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  session bytea NOT NULL,
  hash bytea NOT NULL,
  ends_with bytea NOT NULL,
  parent bytea NOT NULL,
  how bytea NOT NULL,
  model bytea NOT NULL,
  turns bigint NOT NULL,
  messages bigint NOT NULL,
  at_ms bigint NOT NULL,
  bytes bigint NOT NULL,
  text bytea NOT NULL,
  originals bytea NOT NULL,
  UNIQUE (owner, session, hash)
);
CREATE INDEX summaries_by_owner ON summaries (owner, id) INCLUDE (bytes);
CREATE TABLE turn_vectors (
  owner text COLLATE "C" NOT NULL,
  session bytea NOT NULL,
  embedder bytea NOT NULL,
  hash bytea NOT NULL,
  at_ms bigint NOT NULL,
  vectors bytea NOT NULL,
  PRIMARY KEY (owner, session, embedder, hash)
);
CREATE INDEX turn_vectors_by_time ON turn_vectors (owner, at_ms);
CREATE FUNCTION session_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM summaries WHERE owner = old.owner AND session = old.name;
  DELETE FROM turn_vectors WHERE owner = old.owner AND session = old.name;
  RETURN NULL;
END $$;
CREATE TRIGGER session_removed AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION session_removed();
-- When a session was deleted, by the hash of its name, for as long as a request may have been running.
CREATE TABLE forgotten_sessions (
  owner text COLLATE "C" NOT NULL,
  name_hash text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  PRIMARY KEY (owner, name_hash)
);
CREATE INDEX forgotten_sessions_by_time ON forgotten_sessions (at_ms);

-- Background jobs.
CREATE TABLE runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  name bytea NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  created_ms bigint NOT NULL,
  ended_ms bigint NOT NULL,
  asked bytea NOT NULL,
  outcome bytea NOT NULL,
  UNIQUE (owner, name)
);
CREATE INDEX runs_by_kind ON runs (owner, kind, id);
CREATE TABLE run_parts (
  run_id bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  place bigint NOT NULL,
  owner text COLLATE "C" NOT NULL,
  json bytea NOT NULL,
  PRIMARY KEY (run_id, place)
);

-- Memory.
CREATE TABLE facts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  owner text COLLATE "C" NOT NULL,
  session bytea NOT NULL,
  importance double precision NOT NULL,
  trust double precision NOT NULL,
  created_ms bigint NOT NULL,
  updated_ms bigint NOT NULL,
  source bytea NOT NULL,
  text bytea NOT NULL,
  embedder bytea NOT NULL,
  vector bytea NOT NULL
);
CREATE INDEX facts_by_owner ON facts (owner, session, id);
CREATE TABLE fact_feedback (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fact_id bigint NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  helpful boolean NOT NULL,
  trust double precision NOT NULL
);
CREATE INDEX feedback_by_fact ON fact_feedback (fact_id, id);
)sql",
    R"sql(
-- Names these tables and no others: search data derived from them is kept under it.
CREATE TABLE store_identity (id text COLLATE "C" NOT NULL);
INSERT INTO store_identity SELECT gen_random_uuid()::text;

-- Documents. Who changes an index locks its row until it commits. Its row has the totals, so that finding an index
-- reads nothing else, and the next id of a chunk: ids of an index rise in the order in which they are committed, and
-- those of a document are consecutive. The owner is in this row alone, and all reading begins with it.
CREATE TABLE indexes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  name bytea NOT NULL,
  tokenizer bytea NOT NULL,
  chunk_tokens bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  removals_since bigint NOT NULL DEFAULT 0,
  next_chunk bigint NOT NULL DEFAULT 1,
  documents bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  text_bytes bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  created_ms bigint NOT NULL,
  updated_ms bigint NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX indexes_by_name ON indexes (owner, sha256(name));
CREATE TABLE embedders (
  index_id bigint NOT NULL REFERENCES indexes (id) ON DELETE CASCADE,
  place bigint NOT NULL,
  name bytea NOT NULL,
  dimensions bigint NOT NULL,
  max_tokens bigint NOT NULL,
  PRIMARY KEY (index_id, place)
);
-- `filters` has a hash of each entry of the metadata.
CREATE TABLE documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  index_id bigint NOT NULL,
  key bytea NOT NULL,
  media_type bytea NOT NULL,
  source_hash bytea NOT NULL,
  source_bytes bigint NOT NULL,
  text_bytes bigint NOT NULL,
  tokens bigint NOT NULL,
  first_chunk bigint NOT NULL,
  chunks bigint NOT NULL,
  addressable boolean NOT NULL,
  metadata bytea NOT NULL,
  filters bytea[] NOT NULL,
  added_ms bigint NOT NULL,
  sections bytea NOT NULL,
  origins bytea NOT NULL,
  file_path bytea,
  file_root bytea NOT NULL
);
CREATE UNIQUE INDEX documents_by_key ON documents (index_id, sha256(key));
CREATE INDEX documents_by_index ON documents (index_id, id);
CREATE INDEX documents_by_chunk ON documents (index_id, first_chunk);
CREATE INDEX documents_by_filter ON documents USING gin (filters);
-- Vectors of whole chunks are apart from those of sentences: an index is built from the former alone. Neither becomes
-- smaller by compression.
CREATE TABLE chunks (
  index_id bigint NOT NULL,
  id bigint NOT NULL,
  document_id bigint NOT NULL,
  start bigint NOT NULL,
  tokens bigint NOT NULL,
  section bigint NOT NULL,
  page bigint NOT NULL,
  lead bytea NOT NULL,
  path bytea NOT NULL,
  text bytea NOT NULL,
  sentences bytea NOT NULL,
  whole bytea NOT NULL,
  sentence_vectors bytea NOT NULL,
  PRIMARY KEY (index_id, id)
);
ALTER TABLE chunks ALTER COLUMN whole SET STORAGE EXTERNAL, ALTER COLUMN sentence_vectors SET STORAGE EXTERNAL;
CREATE TABLE removals (
  index_id bigint NOT NULL REFERENCES indexes (id) ON DELETE CASCADE,
  revision bigint NOT NULL,
  first_chunk bigint NOT NULL,
  last_chunk bigint NOT NULL,
  PRIMARY KEY (index_id, first_chunk)
);
CREATE INDEX removals_by_revision ON removals (index_id, revision);
-- Indexes that were removed and whose documents and chunks are still to be deleted, some at a time.
CREATE TABLE dropped_indexes (id bigint PRIMARY KEY);
)sql",
    R"sql(
-- Takes and settles many times, in this order, in one transaction. Twin of MemoryLimits in
-- src/gateway/auth/memory_limits.cpp. The caller orders the steps by lock, so that two such calls never wait for each
-- other in a circle, and those of an owner follow each other. Each step has ten numbers:
--   0, requests of a minute, tokens of a minute, tokens of a day (limits, 0: none), wanted requests, tokens of the minute
--      and of the day that are only compared, input, answer, whether the answer may shrink (0 or 1); or
--   1, what was used; of what was taken: tokens of the minute, of the day, its second, its day; four zeros
-- beyond: 0 nothing, 1 requests of a minute, 2 tokens of a minute, 3 tokens of the day, 4 the same while others run.
CREATE FUNCTION limits_work(locks bigint[], owners text[], numbers bigint[], usual bigint, share bigint)
RETURNS TABLE (
  beyond bigint, wait_ms bigint, granted bigint, of_minute bigint, of_day bigint, slot bigint, day bigint,
  requests_left bigint, minute_left bigint, used bigint, reserved bigint, used_before bigint)
LANGUAGE plpgsql AS $$
DECLARE
  n bigint[];
  known record;
  r limits;
  now_ms bigint;
  is_changed boolean := false;
  all_requests bigint;  -- of the last 61 seconds
  all_tokens bigint;
  place bigint;
  rest bigint;
  compared bigint;
BEGIN
  FOR i IN 1 .. cardinality(locks) LOOP
    IF r.owner IS DISTINCT FROM owners[i] THEN
      IF is_changed THEN PERFORM limits_save(r); END IF;
      is_changed := false;
      PERFORM pg_advisory_xact_lock(locks[i]);
      SELECT * INTO known FROM limits_now(owners[i]);
      r := known.r;
      now_ms := known.now_ms;
      SELECT sum(seconds.requests), sum(seconds.tokens) INTO all_requests, all_tokens
        FROM unnest(r.requests, r.tokens) AS seconds(requests, tokens);
    END IF;
    n := numbers[10 * i - 9 : 10 * i];
    place := r.slot % 61 + 1;
    beyond := 0;
    wait_ms := 0;
    granted := 0;
    of_minute := 0;
    of_day := 0;
    used_before := r.used;
    IF n[1] = 0 THEN
      granted := n[9];
      IF n[10] <> 0 AND n[4] > 0 THEN
        rest := greatest(0, n[4] - r.used - r.reserved);
        granted := least(n[9], greatest(rest / share, greatest(1, least(rest - n[8], usual))));
      END IF;
      of_day := n[8] + granted;
      of_minute := of_day;
      IF n[10] <> 0 THEN of_minute := n[8] + least(granted, greatest(usual, n[3] / share)); END IF;
      compared := least(greatest(n[6], of_minute), n[3]);
      rest := greatest(n[7], of_day);
      IF n[2] > 0 AND n[5] > 0 AND all_requests + n[5] > n[2] THEN
        beyond := 1;
        wait_ms := limits_wait(r.requests, r.slot, now_ms, n[5], n[2]);
      ELSIF n[3] > 0 AND (n[6] > 0 OR rest > 0) AND all_tokens + compared > n[3] THEN
        beyond := 2;
        wait_ms := limits_wait(r.tokens, r.slot, now_ms, compared, n[3]);
      ELSIF n[4] > 0 AND rest > 0 AND r.used + r.reserved + rest > n[4] THEN
        beyond := CASE WHEN r.used + rest <= n[4] THEN 4 ELSE 3 END;
      ELSIF n[5] > 0 OR of_day > 0 THEN
        r.requests[place] := r.requests[place] + n[5];
        r.tokens[place] := r.tokens[place] + of_minute;
        r.reserved := r.reserved + of_day;
        all_requests := all_requests + n[5];
        all_tokens := all_tokens + of_minute;
        is_changed := true;
      END IF;
      requests_left := greatest(0, n[2] - all_requests);
      minute_left := greatest(0, n[3] - all_tokens);
    ELSE
      IF n[6] = r.day OR n[6] = 0 THEN
        r.used := least(1000000000000000, r.used + n[2]);
        r.reserved := greatest(0, r.reserved - n[4]);
      END IF;
      rest := 0;  -- the change of a second. What was used above what was taken counts from now on.
      IF n[2] > n[3] THEN
        rest := n[2] - n[3];
      ELSIF n[5] > r.slot - 61 THEN
        place := n[5] % 61 + 1;
        rest := greatest(-r.tokens[place], n[2] - n[3]);
      END IF;
      r.tokens[place] := r.tokens[place] + rest;
      all_tokens := all_tokens + rest;
      requests_left := 0;
      minute_left := 0;
      is_changed := true;
    END IF;
    slot := r.slot;
    day := r.day;
    used := r.used;
    reserved := r.reserved;
    RETURN NEXT;
  END LOOP;
  IF is_changed THEN PERFORM limits_save(r); END IF;
END $$;

-- For gateways of the version before, which run until they are replaced.
CREATE OR REPLACE FUNCTION limits_take(
  lock bigint, of_owner text, requests_most bigint, minute_most bigint, day_most bigint, wanted bigint,
  look_minute bigint, look_day bigint, input bigint, answer bigint, may_shrink boolean, usual bigint, share bigint,
  OUT beyond bigint, OUT wait_ms bigint, OUT granted bigint, OUT of_minute bigint, OUT of_day bigint, OUT slot bigint,
  OUT day bigint, OUT requests_left bigint, OUT minute_left bigint, OUT used bigint, OUT reserved bigint)
LANGUAGE sql AS $$
  SELECT w.beyond, w.wait_ms, w.granted, w.of_minute, w.of_day, w.slot, w.day, w.requests_left, w.minute_left, w.used, w.reserved
  FROM limits_work(ARRAY[lock], ARRAY[of_owner], ARRAY[0, requests_most, minute_most, day_most, wanted, look_minute, look_day,
    input, answer, may_shrink::int], usual, share) w;
$$;
CREATE OR REPLACE FUNCTION limits_settle(
  lock bigint, of_owner text, used_now bigint, of_minute bigint, of_day bigint, at_slot bigint, at_day bigint,
  OUT day bigint, OUT used_before bigint, OUT used bigint, OUT reserved bigint)
LANGUAGE sql AS $$
  SELECT w.day, w.used_before, w.used, w.reserved
  FROM limits_work(ARRAY[lock], ARRAY[of_owner], ARRAY[1, used_now, of_minute, of_day, at_slot, at_day, 0, 0, 0, 0], 1, 1) w;
$$;
)sql",
};
static_assert(std::size(migrations) == schema_version);

// None: there are no tables yet.
Result<std::optional<std::int64_t>> version_of(Connection& connection) {
  TRY(const Rows there, connection.run("SELECT to_regclass('schema_version') IS NOT NULL"));
  if (!there.boolean(0, 0)) return std::nullopt;
  TRY(const Rows rows, connection.run("SELECT version FROM schema_version"));
  if (rows.count() != 1) return fail(Errc::damaged, "the table schema_version has {} rows", rows.count());
  return rows.integer(0, 0);
}

Result<void> check_known(std::int64_t version) {
  if (version <= schema_version) return {};
  return fail(Errc::unsupported,
              "this store has schema {}, and this program knows up to {}: use a newer plimsoll", version,
              schema_version);
}

Result<void> migrate_locked(Connection& connection, const std::string& schema) {
  TRY(const Rows there,
      connection.run("SELECT to_regnamespace($1) IS NOT NULL", Values().add(std::string_view(schema))));
  if (!there.boolean(0, 0)) TRY_VOID(connection.execute(fmt::format("CREATE SCHEMA \"{}\"", schema)));
  TRY_VOID(connection.execute(
      "CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL); "
      "INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT FROM schema_version)"));
  TRY(const auto found, version_of(connection));  // another gateway may have been faster
  TRY_VOID(check_known(found.value_or(0)));
  for (std::int64_t version = found.value_or(0); version < schema_version; ++version)
    TRY_VOID(connection.execute(migrations[version]));
  return connection.execute(fmt::format("UPDATE schema_version SET version = {}", schema_version));
}

}  // namespace

Result<void> migrate(Connection& connection, const std::string& schema, std::int64_t lock) {
  TRY(const auto found, version_of(connection));
  TRY_VOID(check_known(found.value_or(0)));
  if (found == schema_version) return {};
  TRY_VOID(connection.execute(fmt::format("BEGIN; SELECT pg_advisory_xact_lock({})", lock)));
  auto done = migrate_locked(connection, schema);
  if (done) done = connection.execute("COMMIT");
  if (!done) (void)connection.execute("ROLLBACK");
  return done;
}

}  // namespace plimsoll::postgres
