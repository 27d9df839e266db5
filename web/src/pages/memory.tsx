import { useState } from "preact/hooks";
import { api } from "../api/client";
import { Empty, Failure, Heading, useLoaded, useSettled } from "../parts/bits";
import { date, percent } from "../parts/format";
import { Confirm } from "./documents";

export function MemoryPage() {
  const [query, setQuery] = useState("");
  const settled = useSettled(query, 250);
  const facts = useLoaded(() => api.memories(settled, 200), [settled]);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const after = (work: Promise<unknown>) => work.then(() => (setProblem(""), facts.again()), (error: Error) => setProblem(error.message));
  return (
    <section class="page memory">
      <Heading title="Memory" />
      <form
        class="card search"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) void after(api.addMemory(text.trim(), 0.7).then(() => setText("")));
        }}
      >
        <input aria-label="New fact" placeholder="A fact to remember" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button type="submit" class="primary" disabled={!text.trim()}>
          Remember
        </button>
      </form>
      <input type="search" class="only" aria-label="Search memories" placeholder="Search by words and meaning" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
      <Failure text={facts.error ?? problem} />
      {facts.value?.length === 0 && (
        <Empty title={settled ? "Nothing matches" : "Nothing is remembered"}>
          <p>Facts are added here, by `plimsoll memory`, by agents, or from conversations with `extract_memories = true`.</p>
        </Empty>
      )}
      <ul class="facts-list">
        {facts.value?.map((fact) => (
          <li key={fact.id} class="card">
            <p dir="auto">{fact.text}</p>
            <dl>
              <div>
                <dt>Trust</dt>
                <dd>
                  <meter min={0} max={1} value={fact.trust} aria-label="Trust" /> {percent(fact.trust)}
                </dd>
              </div>
              <div>
                <dt>Importance</dt>
                <dd>
                  <meter min={0} max={1} value={fact.importance} aria-label="Importance" /> {percent(fact.importance)}
                </dd>
              </div>
              <div>
                <dt>Source</dt>
                <dd>
                  {fact.source || "–"}, {date(fact.updated_ms)}
                  {fact.session && <> · {fact.session}</>}
                </dd>
              </div>
            </dl>
            <div class="actions">
              <button type="button" onClick={() => void after(api.rateMemory(fact.id, true))}>
                Helpful
              </button>
              <button type="button" onClick={() => void after(api.rateMemory(fact.id, false))}>
                Not helpful
              </button>
              <Confirm label="Delete" question="Delete this fact?" onYes={() => void after(api.deleteMemory(fact.id))} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
