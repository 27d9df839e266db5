import { useEffect, useMemo, useState } from "preact/hooks";
import { live, type LiveView } from "../api/live";
import type { TraceSummary } from "../api/types";
import { Badge, Empty, Heading } from "../parts/bits";
import { clock, dollars, duration, percent, several, short, signed, tokens } from "../parts/format";
import { VirtualList } from "../parts/virtual_list";
import { Legend, WindowBar } from "../parts/window_bar";
import { partsOf } from "../parts/window_parts";
import { link } from "../route";

type Filter = "all" | "changed" | "cut" | "failed";

const passes: Record<Filter, (trace: TraceSummary) => boolean> = {
  all: () => true,
  changed: (trace) => trace.changed,
  cut: (trace) => trace.upstream_cut_tokens > 0,
  failed: (trace) => trace.status >= 400 || trace.status === 0,
};

const mostBegunShown = 5;

const stateText = { connecting: "connecting", watching: "watching", waiting: "reconnecting" };

export function useLive(): LiveView {
  const [view, setView] = useState(live.view);
  useEffect(() => {
    live.start();
    setView(live.view);
    return live.subscribe(setView);
  }, []);
  return view;
}

export function LivePage() {
  const now = useLive();
  const [held, setHeld] = useState<LiveView | null>(null);
  const [filter, setFilter] = useState<Filter>("all");
  const [words, setWords] = useState("");
  const view = held ?? now;
  const rows = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    return view.traces.filter(
      (trace) =>
        passes[filter](trace) &&
        (!wanted ||
          `${trace.asked_model} ${trace.model} ${trace.upstream} ${trace.index} ${trace.session}`.toLowerCase().includes(wanted)),
    );
  }, [view.traces, filter, words]);
  const cut = view.traces.filter(passes.cut).length;

  return (
    <section class="page live">
      <Heading title="Live">
        <span class={`pulse ${now.state}`} role="status">
          {held ? "paused" : stateText[now.state]}
        </span>
        <button type="button" onClick={() => setHeld(held ? null : now)} aria-pressed={held !== null}>
          {held ? "Resume" : "Pause"}
        </button>
      </Heading>
      <div class="tiles">
        <Tile label="Requests" value={tokens(view.traces.length)} note={`${tokens(lastMinute(view.traces))} in the last minute`} />
        <Tile label="Under way" value={tokens(view.begun.length)} note={view.begun[0]?.asked_model ?? "none"} />
        <Tile label="Median time" value={medianTime(view.traces)} note="of the last 100" />
        <Tile label="Shortened" value={tokens(view.traces.filter((one) => one.dropped_pieces + one.summarised_messages > 0).length)} note="left out or summarised" />
        <Tile label="Cut by upstreams" value={tokens(cut)} note={cut > 0 ? "a prompt lost a part" : "none"} bad={cut > 0} />
      </div>
      {view.lost > 0 && <p class="note">{several(view.lost, "event")} arrived faster than this page reads and are not in the list; a reload shows what is stored.</p>}
      <div class="filters">
        <input type="search" placeholder="Model, upstream, index or session" aria-label="Filter requests" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        <div class="segments" role="group" aria-label="Which requests">
          {(Object.keys(passes) as Filter[]).map((one) => (
            <button type="button" key={one} aria-pressed={filter === one} onClick={() => setFilter(one)}>
              {one}
            </button>
          ))}
        </div>
        <Legend />
      </div>
      {view.begun.length > 0 && (
        <ul class="begun card" aria-label="Requests under way">
          {view.begun
            .slice(-mostBegunShown)
            .reverse()
            .map((one) => (
              <li key={one.id} data-begun={one.id}>
                <span class="dim">{clock(one.at_ms)}</span>
                <b>
                  <bdi>{one.asked_model || "no model"}</bdi>
                </b>
                <span class="dim">{one.session || one.route}</span>
                <Badge kind="plain">under way</Badge>
              </li>
            ))}
          {view.begun.length > mostBegunShown && <li class="dim">and {tokens(view.begun.length - mostBegunShown)} more</li>}
        </ul>
      )}
      {rows.length === 0 ? (
        <Empty title={view.traces.length === 0 ? "No requests yet" : "No request matches"}>
          {view.traces.length === 0 && (
            <p>
              Point a client at this gateway, or ask something in the <a href={link("playground")}>playground</a>. Each request appears here as it happens.
            </p>
          )}
        </Empty>
      ) : (
        <>
          <div class="row row-head" aria-hidden="true">
            <span>Time</span>
            <span>Model</span>
            <span>Window</span>
            <span class="number">Pressure</span>
            <span>Strategy</span>
            <span class="number">Drift</span>
            <span class="number">Cost</span>
            <span class="number">Took</span>
          </div>
          <VirtualList items={rows} rowHeight={56} label="Requests, newest first" keyOf={(trace) => trace.id} row={(trace) => <Row trace={trace} />} growsAtTop />
        </>
      )}
    </section>
  );
}

function Tile({ label, value, note, bad = false }: { label: string; value: string; note: string; bad?: boolean }) {
  return (
    <div class={bad ? "tile bad" : "tile"}>
      <span class="dim">{label}</span>
      <b>{value}</b>
      <small title={note}>{note}</small>
    </div>
  );
}

function lastMinute(traces: readonly TraceSummary[]): number {
  const from = Date.now() - 60_000;
  const end = traces.findIndex((trace) => trace.at_ms < from);
  return end < 0 ? traces.length : end;
}

function medianTime(traces: readonly TraceSummary[]): string {
  const times = traces.slice(0, 100).map((trace) => trace.us.total);
  times.sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  return middle === undefined ? "–" : duration(middle);
}

function Row({ trace }: { trace: TraceSummary }) {
  const failed = trace.status >= 400 || trace.status === 0;
  return (
    <a class={failed ? "row failed" : "row"} href={link("trace", trace.id)} data-trace={trace.id}>
      <span class="time">{clock(trace.at_ms)}</span>
      <span class="model">
        <b title={trace.model || trace.asked_model}>{trace.model || trace.asked_model || "no model"}</b>
        <small>
          {trace.upstream || trace.route}
          {trace.index && ` · ${trace.index}`}
        </small>
      </span>
      <span class="window">
        <WindowBar parts={partsOf(trace)} window={trace.window} />
        <small>
          {trace.window > 0 ? `${tokens(trace.input_tokens)} of ${short(trace.window)}` : "no window"}
          {trace.dropped_pieces > 0 && <span class="warn-text"> · {tokens(trace.dropped_pieces)} left out</span>}
          {trace.summarised_messages > 0 && <span class="warn-text"> · {tokens(trace.summarised_messages)} summarised</span>}
          {trace.upstream_cut_tokens > 0 && (
            <strong class="alarm" role="alert">
              {" "}
              · upstream cut {tokens(trace.upstream_cut_tokens)}
            </strong>
          )}
        </small>
      </span>
      <span class="number pressure">{trace.has_plan ? percent(trace.pressure) : "–"}</span>
      <span class="strategy">
        {failed ? <Badge kind="bad" title={trace.error ?? ""}>{trace.status || "no reply"}</Badge> : trace.index ? trace.strategy : trace.changed ? "planned" : "untouched"}
      </span>
      <span class={`number drift${trace.drift ? " warn-text" : ""}`}>{trace.drift === null ? "–" : signed(trace.drift)}</span>
      <span class="number cost" title={trace.cost?.why ?? ""}>
        {typeof trace.cost?.nano_usd === "number" ? dollars(trace.cost.nano_usd) : "–"}
      </span>
      <span class="number took">{duration(trace.us.total)}</span>
    </a>
  );
}
