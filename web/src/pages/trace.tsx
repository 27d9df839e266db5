import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import { kept } from "../api/kept_requests";
import type { Account, Piece, Plan, Trace, TracePassage } from "../api/types";
import { Badge, Empty, Failure, Heading, useLoaded } from "../parts/bits";
import { clock, date, dollars, duration, percent, place, several, signed, tokens } from "../parts/format";
import { Prompt } from "../parts/prompt";
import { Replan } from "../parts/replan";
import { VirtualList } from "../parts/virtual_list";
import { WindowBar, WindowLegend } from "../parts/window_bar";
import { partsOf } from "../parts/window_parts";
import { documentLink, link } from "../route";

export function TracePage({ id, account }: { id: string; account: Account }) {
  const { value: trace, error, again } = useLoaded(() => loaded(id), [id]);
  if (error)
    return (
      <section class="page">
        <Heading title="Request" />
        <Failure text={error} />
        <button type="button" onClick={again}>
          Try again
        </button>
      </section>
    );
  if (!trace) return <section class="page" aria-busy="true" />;
  const parts = partsOf({ ...trace, sections: trace.plan?.sections ?? [] });
  return (
    <section class="page trace">
      <Heading title={<bdi>{trace.model || trace.asked_model || "Request"}</bdi>}>
        {trace.session && <a href={link("conversation", trace.session)}>Conversation</a>}
        <a href={link("live")}>All requests</a>
      </Heading>
      <p class="facts">
        <Badge kind={trace.status >= 200 && trace.status < 300 ? "good" : "bad"}>{trace.status || "no reply"}</Badge>
        <Badge kind="plain">{trace.changed ? "changed by the plan" : "passed through byte for byte"}</Badge>
        {trace.upstream && <span>upstream {trace.upstream}</span>}
        <span>{trace.route}</span>
        <span>
          {date(trace.at_ms)} {clock(trace.at_ms)}
        </span>
        <code>{trace.id}</code>
      </p>
      {trace.upstream_cut_tokens > 0 && (
        <p class="failure" role="alert">
          The upstream read {tokens(trace.upstream_cut_tokens)} tokens fewer than it was sent: the model did not see part of the prompt.
        </p>
      )}
      <Failure text={trace.error} />
      <div class="card window-card">
        <div class="window-title">
          <h2>Window</h2>
          <span class="dim">
            {tokens(trace.window)} tokens
            {trace.plan && `, ${trace.plan.window.source}, ${trace.plan.window.confidence} confidence`} · counts {trace.exactness}
          </span>
        </div>
        <WindowBar parts={parts} window={trace.window} tall />
        <WindowLegend parts={parts} window={trace.window} />
      </div>
      <div class="columns">
        {trace.plan && <Sections plan={trace.plan} />}
        <Numbers trace={trace} />
      </div>
      {trace.plan && <ReplanCard trace={trace} plan={trace.plan} account={account} />}
      {trace.plan && <PromptCard trace={trace} />}
      {trace.plan && trace.plan.pieces.length > 0 && <Pieces pieces={trace.plan.pieces} />}
      {trace.passages.length > 0 && <Passages index={trace.index} passages={trace.passages} />}
      {trace.left_out && trace.left_out.length > 0 && <LeftOut trace={trace} />}
      <div class="columns">
        <Times trace={trace} />
        {trace.attempts.length > 0 && <Attempts trace={trace} />}
      </div>
      {trace.warnings.length > 0 && (
        <Card title="Warnings">
          <ul>
            {trace.warnings.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </Card>
      )}
      {trace.prompt && (
        <Card title="Request as it was sent">
          <pre tabIndex={0}>{pretty(trace.prompt)}</pre>
        </Card>
      )}
    </section>
  );
}

// A trace is written a moment after the answer.
async function loaded(id: string): Promise<Trace> {
  try {
    return await api.trace(id);
  } catch (error) {
    if ((error as { status?: number }).status !== 404) throw error;
    await new Promise((done) => setTimeout(done, 700));
    return api.trace(id);
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

export function Card({ title, children, note }: { title: string; children: ComponentChildren; note?: string }) {
  return (
    <div class="card">
      <div class="window-title">
        <h2>{title}</h2>
        {note && <span class="dim">{note}</span>}
      </div>
      {children}
    </div>
  );
}

function Sections({ plan }: { plan: Plan }) {
  const used = plan.sections.filter((one) => one.basis > 0 || one.used > 0 || one.grant > 0);
  return (
    <Card title="Sections" note={`policy ${plan.policy}, pressure ${percent(plan.pressure)}`}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Sections of the plan">
        <table>
          <thead>
            <tr>
              <th>Section</th>
              <th class="number">Wanted</th>
              <th class="number">Granted</th>
              <th class="number">Used</th>
            </tr>
          </thead>
          <tbody>
            {used.map((one) => (
              <tr key={one.name}>
                <td>
                  <span class={`swatch fill-${one.name}`} aria-hidden="true" /> {one.name}
                </td>
                <td class="number">{tokens(one.basis)}</td>
                <td class="number">{tokens(one.grant)}</td>
                <td class="number">{tokens(one.used)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Numbers({ trace }: { trace: Trace }) {
  const row = (name: string, planned: number | null, reported: number | null) => (
    <tr>
      <td>{name}</td>
      <td class="number">{planned === null ? "–" : tokens(planned)}</td>
      <td class="number">{reported === null ? "not reported" : tokens(reported)}</td>
    </tr>
  );
  return (
    <Card title="Plan and usage" note={trace.drift === null ? "the upstream reported no usage" : `drift ${signed(trace.drift)}`}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Planned and reported tokens">
        <table>
          <thead>
            <tr>
              <th>Tokens</th>
              <th class="number">Planned</th>
              <th class="number">Reported</th>
            </tr>
          </thead>
          <tbody>
            {row("input", trace.input_tokens, trace.usage.input)}
            {row("of these, read from a cache", null, trace.usage.cached)}
            {trace.usage.written ? row("of these, written to a cache", null, trace.usage.written) : null}
            {row("answer", trace.answer_tokens, trace.usage.answer)}
          </tbody>
        </table>
      </div>
      {trace.cost && (
        <p class="cost">
          Cost <b>{trace.cost.nano_usd === null ? "not known" : dollars(trace.cost.nano_usd)}</b>
          <span class="dim">{trace.cost.nano_usd === null ? `: ${trace.cost.why ?? ""}` : " by the list price"}</span>
        </p>
      )}
      {trace.plan?.strategy && trace.index && (
        <p class="dim">
          Strategy {trace.plan.strategy.strategy}: {trace.plan.strategy.reasoning}
        </p>
      )}
      {trace.plan?.fallback.to && (
        <p class="dim">
          Fallback to {trace.plan.fallback.to}: {trace.plan.fallback.reason}
        </p>
      )}
      {trace.plan?.summary && (
        <p class="dim">
          {several(trace.plan.summary.turns, "old turn")} of {tokens(trace.plan.summary.tokens_before)} tokens replaced by a summary of {tokens(trace.plan.summary.tokens_after)} ({trace.plan.summary.how}).
        </p>
      )}
    </Card>
  );
}

// The request, from this page or as it was sent; null if it is not kept.
function requestOf(trace: Trace): object | null {
  const own = kept(trace.id);
  if (own || !trace.prompt) return own ?? null;
  try {
    return JSON.parse(trace.prompt) as object;
  } catch {
    return null;
  }
}

function ReplanCard({ trace, plan, account }: { trace: Trace; plan: Plan; account: Account }) {
  const own = kept(trace.id);
  const body = requestOf(trace);
  return (
    <Card title="What if the window were smaller?" note={own ? "planned from the request in this page" : trace.prompt ? "planned from the request as it was sent" : ""}>
      {body ? (
        <Replan body={body} plan={plan} />
      ) : (
        <p class="dim">
          The request is not kept, so it cannot be planned again. {account.keeps_prompts ? "It was made before prompts were kept." : "The setting keep_prompts = true keeps requests in traces."} Requests from the playground can be planned again until the page is reloaded.
        </p>
      )}
    </Card>
  );
}

function PromptCard({ trace }: { trace: Trace }) {
  const body = requestOf(trace);
  return body ? (
    <Card title="Prompt" note="as the model reads it, planned again now">
      <Prompt key={trace.id} body={body} />
    </Card>
  ) : null;
}

function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  const [only, setOnly] = useState<"all" | "kept" | "dropped">("all");
  const numbered = useMemo(() => pieces.map((piece, number) => ({ piece, number })), [pieces]);
  const shown = numbered.filter(({ piece }) => only === "all" || piece.fate === only);
  const dropped = pieces.filter((piece) => piece.fate === "dropped").length;
  return (
    <Card title="Pieces" note={`${tokens(pieces.length - dropped)} sent, ${tokens(dropped)} left out`}>
      <div class="segments" role="group" aria-label="Which pieces">
        {(["all", "kept", "dropped"] as const).map((one) => (
          <button type="button" key={one} aria-pressed={only === one} onClick={() => setOnly(one)}>
            {one === "dropped" ? "left out" : one === "kept" ? "sent" : one}
          </button>
        ))}
      </div>
      <div class={`pieces${shown.length > 8 ? " long" : ""}`}>
        <VirtualList
          items={shown}
          rowHeight={40}
          label="Pieces of the request"
          keyOf={({ number }) => String(number)}
          row={({ piece }) => (
            <div class={`piece ${piece.fate}`}>
              <span class={`swatch fill-${piece.section}`} aria-hidden="true" />
              <span class="piece-id" title={piece.id}>
                <bdi>{piece.id}</bdi>
              </span>
              <span class="number">{tokens(piece.tokens)}</span>
              <span>{piece.fate === "kept" ? <Badge kind="good">sent</Badge> : <Badge kind="warn">left out</Badge>}</span>
              <span class="reason dim" title={piece.reason}>
                {piece.reason}
              </span>
            </div>
          )}
        />
      </div>
    </Card>
  );
}

export function Passages({ index, passages }: { index: string; passages: readonly TracePassage[] }) {
  return (
    <Card title="Passages" note={several(passages.length, "passage")}>
      <ul class="passages">
        {passages.map((one, i) => (
          <li key={`${one.document}:${one.start}`}>
            <a href={documentLink(index, one.document, one.start, one.end)}>
              <bdi>{one.document}</bdi>
            </a>
            <span class="dim">{place(one)}</span>
            <span class="number">{tokens(one.tokens)} tokens</span>
            <meter min={0} max={1} value={Math.max(0, Math.min(1, one.score))} aria-label={`Score of passage ${i + 1}`} title={`score ${one.score.toFixed(2)}`} />
            <span class="dim reason">{one.reason}</span>
            {one.text && <blockquote dir="auto">{one.text}</blockquote>}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function LeftOut({ trace }: { trace: Trace }) {
  return (
    <Card title="Found and left out" note={several(trace.left_out_documents ?? 0, "document")}>
      <ul class="passages">
        {trace.left_out?.map((one) => (
          <li key={one.document}>
            <a href={documentLink(trace.index, one.document)}>
              <bdi>{one.document}</bdi>
            </a>
            <span class="dim reason">{one.reason}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Times({ trace }: { trace: Trace }) {
  const { plan, retrieve, first_byte, total } = trace.us;
  const steps: [string, number, number][] = [
    ["plan", 0, plan],
    ["of this, finding passages", 0, retrieve],
    ["until the first byte", plan, Math.max(0, first_byte - plan)],
    ["the rest of the answer", Math.max(first_byte, plan), Math.max(0, total - Math.max(first_byte, plan))],
  ];
  return (
    <Card title="Time" note={duration(total)}>
      <Waterfall steps={steps.filter(([, , took]) => took > 0)} total={total} />
    </Card>
  );
}

function Attempts({ trace }: { trace: Trace }) {
  const sum = trace.attempts.reduce((all, one) => all + one.took_us, 0);
  let at = 0;
  const steps = trace.attempts.map((one): [string, number, number] => {
    const begun = at;
    at += one.took_us;
    return [`${one.upstream}: ${one.outcome}`, begun, one.took_us];
  });
  return (
    <Card title="Attempts" note={several(trace.attempts.length, "request")}>
      <Waterfall steps={steps} total={sum} />
    </Card>
  );
}

function Waterfall({ steps, total }: { steps: [name: string, at: number, took: number][]; total: number }) {
  const whole = Math.max(1, total);
  if (steps.length === 0) return <Empty title="Nothing was measured" />;
  return (
    <ul class="waterfall">
      {steps.map(([name, at, took]) => (
        <li key={name}>
          <span title={name}>{name}</span>
          <svg viewBox={`0 0 ${whole} 1`} preserveAspectRatio="none" aria-hidden="true">
            <rect class="waterfall-step" x={at} y={0} width={took} height={1} />
          </svg>
          <span class="number">{duration(took)}</span>
        </li>
      ))}
    </ul>
  );
}
