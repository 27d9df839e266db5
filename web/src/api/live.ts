// Requests as they happen: what is stored first, then what arrives, without gaps or doubles.
import { api } from "./client";
import { readEvents, type ServerEvent } from "./events";
import type { BegunRequest, TraceSummary } from "./types";

export type LiveState = "connecting" | "watching" | "waiting";

export interface LiveView {
  state: LiveState;
  traces: readonly TraceSummary[]; // newest first
  begun: readonly BegunRequest[]; // not finished yet
  lost: number; // events that this page was too slow for
}

export const mostKept = 20_000;
const mostBegun = 200;
const firstLoad = 200;

// Merges by id, newest first. `more` may have anything twice.
export function merged(old: readonly TraceSummary[], more: readonly TraceSummary[]): readonly TraceSummary[] {
  if (more.length === 0) return old;
  const ids = new Set(more.map((one) => one.id));
  const newest = [...new Map(more.map((one) => [one.id, one])).values()].sort(byAge);
  const oldest = newest[newest.length - 1];
  // Almost always everything new is newer than everything old.
  const first = old[0];
  if (!first || (oldest && byAge(oldest, first) < 0)) return [...newest, ...old].slice(0, mostKept);
  return [...newest, ...old.filter((one) => !ids.has(one.id))].sort(byAge).slice(0, mostKept);
}

function byAge(a: TraceSummary, b: TraceSummary): number {
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

// Applies events in their order.
export function applied(view: LiveView, events: readonly ServerEvent[]): LiveView {
  const traces: TraceSummary[] = [];
  const begun = new Map(view.begun.map((one) => [one.id, one]));
  let lost = view.lost;
  for (const { event, data } of events) {
    if (event === "begun") {
      const one = JSON.parse(data) as BegunRequest;
      begun.set(one.id, one);
    } else if (event === "trace") {
      const one = JSON.parse(data) as TraceSummary;
      begun.delete(one.id);
      traces.push(one);
    } else if (event === "lost") {
      lost += (JSON.parse(data) as { lost: number }).lost;
    }
  }
  return { ...view, lost, begun: [...begun.values()].slice(-mostBegun), traces: merged(view.traces, traces) };
}

export class Live {
  view: LiveView = { state: "connecting", traces: [], begun: [], lost: 0 };
  private listeners = new Set<(view: LiveView) => void>();
  private abort: AbortController | null = null;

  subscribe(listener: (view: LiveView) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  start(): void {
    if (this.abort) return;
    this.abort = new AbortController();
    void this.run(this.abort.signal);
  }

  stop(): void {
    this.abort?.abort();
    this.abort = null;
    this.set({ state: "connecting", traces: [], begun: [], lost: 0 });
  }

  private set(view: LiveView): void {
    this.view = view;
    for (const listener of this.listeners) listener(view);
  }

  private async readAgain(signal: AbortSignal): Promise<void> {
    const stored = await api.traces(firstLoad).catch(() => []);
    if (!signal.aborted) this.set({ ...this.view, traces: merged(this.view.traces, stored) });
  }

  private async run(signal: AbortSignal): Promise<void> {
    for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 5_000)) {
      try {
        // Watching begins before the list is read: nothing falls between the two.
        const response = await api.watch(signal);
        const stored = await api.traces(firstLoad);
        this.set({ ...this.view, state: "watching", begun: [], traces: merged(this.view.traces, stored) });
        wait = 500;
        // What ended just before watching began is stored a moment later.
        setTimeout(() => void this.readAgain(signal), 1_000);
        await readEvents(response, (events) => !signal.aborted && this.set(applied(this.view, events)));
      } catch {
        // Whatever it was: try again.
      }
      if (signal.aborted) return;
      this.set({ ...this.view, state: "waiting", begun: [] });
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}

export const live = new Live();
