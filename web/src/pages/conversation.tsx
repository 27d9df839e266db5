import { api } from "../api/client";
import type { TraceSummary } from "../api/types";
import { Empty, Failure, Heading, useLoaded } from "../parts/bits";
import { clock, date, several, short, tokens } from "../parts/format";
import { Legend } from "../parts/window_bar";
import { partsOf } from "../parts/window_parts";
import { link } from "../route";
import { Card } from "./trace";

interface Session {
  name: string;
  turns: TraceSummary[]; // newest first
}

export function sessionsOf(traces: readonly TraceSummary[]): Session[] {
  const sessions = new Map<string, TraceSummary[]>();
  for (const trace of traces) {
    if (!trace.session) continue;
    const turns = sessions.get(trace.session);
    if (turns) turns.push(trace);
    else sessions.set(trace.session, [trace]);
  }
  return [...sessions].map(([name, turns]) => ({ name, turns }));
}

export function ConversationPage({ session }: { session: string }) {
  const all = useLoaded(() => api.traces(500), []);
  const sessions = sessionsOf(all.value ?? []);
  const current = session || sessions[0]?.name || "";
  const turns = useLoaded(() => (current ? api.traces(200, current) : Promise.resolve([])), [current]);
  return (
    <section class="page conversation">
      <Heading title="Conversations" />
      <Failure text={all.error ?? turns.error} />
      {all.value && sessions.length === 0 && !session ? (
        <Empty title="No conversations">
          <p>Requests that name a session (`plimsoll.session`) are drawn here, one window for each turn. The playground does.</p>
        </Empty>
      ) : (
        <div class="with-list">
          <nav class="list card" aria-label="Conversations">
            {sessions.map((one) => (
              <a key={one.name} href={link("conversation", one.name)} aria-current={one.name === current ? "page" : undefined}>
                <b>
                  <bdi>{one.name}</bdi>
                </b>
                <small class="dim">
                  {several(one.turns.length, "request")}, {date(one.turns[0]?.at_ms ?? 0)}
                </small>
              </a>
            ))}
          </nav>
          {turns.value && <Turns turns={[...turns.value].reverse()} />}
        </div>
      )}
    </section>
  );
}

// One window per turn, side by side, drawn from the bottom up.
function Turns({ turns }: { turns: readonly TraceSummary[] }) {
  const window = turns.reduce((most, one) => Math.max(most, one.window), 1);
  const used = turns.reduce((most, one) => Math.max(most, one.window - one.left), 1);
  // Small requests in a large window would be invisible.
  const scale = used * 4 < window ? used : window;
  return (
    <Card title="Windows by turn" note={scale < window ? `drawn up to ${tokens(scale)} of ${tokens(window)} tokens` : `window of ${tokens(window)} tokens`}>
      <ul class="stacks">
        {turns.map((turn, i) => {
          let at = 0;
          return (
            <li key={turn.id}>
              <a href={link("trace", turn.id)}>
                <span class="spoken">{`Turn ${i + 1}, ${clock(turn.at_ms)}, tokens of input: `}</span>
                <svg viewBox={`0 0 1 ${scale}`} preserveAspectRatio="none" aria-hidden="true">
                  <rect class="day-back" width={1} height={scale} />
                  {partsOf(turn)
                    .filter((part) => part.name !== "left")
                    .map((part) => {
                      at += part.tokens;
                      return <rect key={part.name} class={`part-${part.name}`} x={0} y={scale - at} width={1} height={part.tokens} data-part={part.name} data-tokens={part.tokens} />;
                    })}
                </svg>
                <small>{short(turn.input_tokens)}</small>
                {turn.usage.cached ? <small class="dim">{short(turn.usage.cached)} cached</small> : null}
                {turn.summarised_messages > 0 && <small class="warn-text">Σ {tokens(turn.summarised_messages)}<span class="spoken"> messages summarised</span></small>}
                {turn.dropped_pieces > 0 && <small class="warn-text">−{tokens(turn.dropped_pieces)}<span class="spoken"> pieces left out</span></small>}
              </a>
            </li>
          );
        })}
      </ul>
      <p class="dim">Below each window: tokens of input. Σ is the number of messages that a summary replaces, − the number of pieces left out.</p>
      <Legend />
    </Card>
  );
}
