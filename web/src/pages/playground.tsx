import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, nothingYet, type Progress } from "../api/ask";
import { api } from "../api/client";
import type { ChatBody, Report, SentMessage, Wishes } from "../api/types";
import { AnswerText } from "../parts/answer_text";
import { Choice, Failure, Field, Heading, useLoaded, useSettled } from "../parts/bits";
import { duration, place, several, tokens } from "../parts/format";
import { WindowBar } from "../parts/window_bar";
import { partsOf } from "../parts/window_parts";
import { documentLink, link } from "../route";

interface Setting {
  model: string;
  index: string;
  policy: string;
  strategy: string;
  order: string;
  budget: string;
  maxTokens: string;
  check: boolean;
  memory: boolean;
}

interface Turn {
  question: string;
  answer: Progress;
  error?: string;
}

const policies = ["balanced", "history", "documents", "answer", "strict"];
const strategies = ["STUFF", "HYBRID", "RAG", "RAG+GRAPH"];
const orders = ["document", "best-first", "best-last", "both-ends"];
const start: Setting = { model: "", index: "", policy: "", strategy: "", order: "", budget: "", maxTokens: "", check: true, memory: false };

export function bodyOf(setting: Setting, messages: SentMessage[], session: string): ChatBody {
  const wishes: Wishes = { explain: true, session };
  if (setting.policy) wishes.policy = setting.policy as Wishes["policy"];
  if (setting.memory) wishes.memory = true;
  const body: ChatBody = { model: setting.model, messages, plimsoll: wishes };
  if (Number(setting.maxTokens) > 0) body.max_tokens = Number(setting.maxTokens);
  if (!setting.index) return body;
  body.index_name = setting.index;
  if (setting.strategy) wishes.strategy = setting.strategy as Wishes["strategy"];
  if (setting.order) wishes.order = setting.order as Wishes["order"];
  if (setting.budget !== "") wishes.budget = Number(setting.budget);
  if (setting.check) wishes.check = true;
  return body;
}

function messagesOf(turns: readonly Turn[], question: string): SentMessage[] {
  const before = turns
    .filter((turn) => turn.answer.text)
    .flatMap((turn): SentMessage[] => [
      { role: "user", content: turn.question },
      { role: "assistant", content: turn.answer.text },
    ]);
  return [...before, { role: "user", content: question }];
}

function newSession(): string {
  return `playground-${Date.now().toString(36)}`;
}

export function PlaygroundPage() {
  const models = useLoaded(() => api.models(), []);
  const indexes = useLoaded(() => api.indexes(), []);
  const names = useMemo(() => (models.value ?? []).filter((one) => !one.index && one.kind !== "embedding").map((one) => one.id), [models.value]);
  const [settings, setSettings] = useState<Setting[]>([start]);
  const [turns, setTurns] = useState<Turn[][]>([[]]);
  const [question, setQuestion] = useState("");
  const [session, setSession] = useState(newSession);
  const [busy, setBusy] = useState(0);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const withModel = (setting: Setting): Setting => ({ ...setting, model: setting.model || (names[0] ?? "") });
  const change = (side: number, part: Partial<Setting>) => setSettings((old) => old.map((one, i) => (i === side ? { ...one, ...part } : one)));
  const compare = () => {
    setSettings((old) => (old.length === 1 ? [old[0] ?? start, old[0] ?? start] : old.slice(0, 1)));
    setTurns((old) => (old.length === 1 ? [old[0] ?? [], []] : old.slice(0, 1)));
  };
  const clear = () => {
    abort.current?.abort();
    setTurns((old) => old.map(() => []));
    setSession(newSession());
  };

  const send = () => {
    const text = question.trim();
    if (!text || busy > 0 || names.length === 0) return;
    setQuestion("");
    abort.current = new AbortController();
    const { signal } = abort.current;
    setBusy(settings.length);
    settings.forEach((setting, side) => {
      const put = (turn: Partial<Turn>) =>
        setTurns((old) => old.map((list, i) => (i === side ? [...list.slice(0, -1), { ...(list[list.length - 1] as Turn), ...turn }] : list)));
      const before = turns[side] ?? [];
      setTurns((old) => old.map((list, i) => (i === side ? [...list, { question: text, answer: nothingYet }] : list)));
      ask(bodyOf(withModel(setting), messagesOf(before, text), settings.length > 1 ? `${session}-${side + 1}` : session), (answer) => put({ answer }), signal)
        .catch((error: Error) => !signal.aborted && put({ error: error.message }))
        .finally(() => setBusy((old) => old - 1));
    });
  };

  return (
    <section class="page playground">
      <Heading title="Playground">
        <button type="button" onClick={compare} aria-pressed={settings.length > 1}>
          {settings.length > 1 ? "One setting" : "Compare two settings"}
        </button>
        <button type="button" onClick={clear}>
          New conversation
        </button>
      </Heading>
      <Failure text={models.error ?? indexes.error} />
      {models.value && names.length === 0 && <p class="note">No upstream serves a model. Start the gateway with `--upstream URL`, or with `--upstream embedded`.</p>}
      <div class={settings.length > 1 ? "sides two" : "sides"}>
        {settings.map((setting, side) => (
          <div class="side" key={side}>
            <Controls setting={withModel(setting)} models={names} indexes={(indexes.value ?? []).map((one) => one.name)} onChange={(part) => change(side, part)} />
            <div class="turns" aria-live="polite">
              {(turns[side] ?? []).map((turn, i) => (
                <TurnView key={i} turn={turn} index={setting.index} />
              ))}
            </div>
          </div>
        ))}
      </div>
      <form
        class="composer card"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          aria-label="Message"
          placeholder={settings[0]?.index ? `Ask the documents of ${settings[0].index}` : "Ask something"}
          rows={3}
          value={question}
          onInput={(event) => setQuestion(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              send();
            }
          }}
        />
        <Gauge setting={withModel(settings[0] ?? start)} messages={messagesOf(turns[0] ?? [], question)} />
        {busy > 0 ? (
          <button type="button" onClick={() => abort.current?.abort()}>
            Stop
          </button>
        ) : (
          <button type="submit" class="primary" disabled={!question.trim() || names.length === 0}>
            Send
          </button>
        )}
      </form>
    </section>
  );
}

function Controls({ setting, models, indexes, onChange }: { setting: Setting; models: string[]; indexes: string[]; onChange: (part: Partial<Setting>) => void }) {
  return (
    <div class="controls card">
      <Choice label="Model" value={setting.model} options={models} onChange={(model) => onChange({ model })} />
      <Choice label="Index" value={setting.index} options={indexes} none="no documents" onChange={(index) => onChange({ index })} />
      <Choice label="Policy" value={setting.policy} options={policies} none="default" onChange={(policy) => onChange({ policy })} />
      <Field label="Longest answer">
        <input type="number" min={1} placeholder="by the plan" value={setting.maxTokens} onInput={(event) => onChange({ maxTokens: event.currentTarget.value })} />
      </Field>
      {setting.index && (
        <>
          <Choice label="Strategy" value={setting.strategy} options={strategies} none="by rule" onChange={(strategy) => onChange({ strategy })} />
          <Choice label="Order" value={setting.order} options={orders} none="default" onChange={(order) => onChange({ order })} />
          <Field label="Passages, tokens">
            <input type="number" min={0} step={50} placeholder="as needed" value={setting.budget} onInput={(event) => onChange({ budget: event.currentTarget.value })} />
          </Field>
          <label class="check">
            <input type="checkbox" checked={setting.check} onChange={(event) => onChange({ check: event.currentTarget.checked })} />
            Check sentences
          </label>
        </>
      )}
      <label class="check">
        <input type="checkbox" checked={setting.memory} onChange={(event) => onChange({ memory: event.currentTarget.checked })} />
        Use memories
      </label>
    </div>
  );
}

// How full the window would be with what is typed.
function Gauge({ setting, messages }: { setting: Setting; messages: SentMessage[] }) {
  const [counted, setCounted] = useState<{ tokens: number; window?: number } | null>(null);
  const wanted = useSettled(JSON.stringify([setting.model, messages]), 150);
  useEffect(() => {
    if (!setting.model) return;
    const abort = new AbortController();
    api.count({ model: setting.model, messages }, abort.signal).then(setCounted, () => {});
    return () => abort.abort();
  }, [wanted]);
  if (!counted) return <span class="gauge dim">…</span>;
  const window = counted.window ?? 0;
  const parts = [{ name: "history", tokens: counted.tokens }];
  if (window > counted.tokens) parts.push({ name: "left", tokens: window - counted.tokens });
  return (
    <span class="gauge" data-tokens={counted.tokens}>
      {window > 0 && <WindowBar parts={parts} window={window} />}
      <small>
        {tokens(counted.tokens)} {window > 0 ? `of ${tokens(window)} tokens` : "tokens"}
        {setting.index && ", before passages"}
      </small>
    </span>
  );
}

function TurnView({ turn, index }: { turn: Turn; index: string }) {
  const [open, setOpen] = useState(0);
  const report: Report | null = turn.answer.report;
  const passages = report?.passages ?? [];
  const list = useRef<HTMLOListElement>(null);
  const show = (number: number) => {
    setOpen(number);
    list.current?.querySelector(`[data-number="${number}"]`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <article class="turn">
      <p class="question" dir="auto">
        {turn.question}
      </p>
      <div class={passages.length > 0 ? "answer with-sources" : "answer"}>
        <div>
          {turn.answer.reasoning && (
            <details>
              <summary>Reasoning</summary>
              <p dir="auto">{turn.answer.reasoning}</p>
            </details>
          )}
          {turn.answer.text ? <AnswerText text={turn.answer.text} sentences={report?.check?.sentences ?? []} onSource={show} /> : !turn.error && <span class="typing" aria-label="waiting for the answer" />}
          <Failure text={turn.error} />
          {report?.without_documents && <p class="note">{report.without_documents}</p>}
          {report?.plan && <WindowBar parts={partsOf(report.plan)} window={report.plan.window.tokens} />}
          {turn.answer.tookMs !== null && <Caption answer={turn.answer} />}
        </div>
        {passages.length > 0 && (
          <ol class="sources" ref={list} aria-label="Sources">
            {passages.map((one) => (
              <li key={one.number} data-number={one.number} class={open === one.number ? "open" : ""} value={one.number}>
                <a href={documentLink(index || "", one.document, one.start, one.end)}>
                  <bdi>{one.document}</bdi>
                </a>{" "}
                <span class="dim">
                  {place(one)} · {tokens(one.tokens)} tokens
                </span>
                <p dir="auto">{one.text}</p>
              </li>
            ))}
          </ol>
        )}
      </div>
    </article>
  );
}

function Caption({ answer }: { answer: Progress }) {
  const { report, usage } = answer;
  const check = report?.check;
  const took = duration(Math.round(1_000 * (answer.tookMs ?? 0)));
  return (
    <small class="caption dim">
      {check && (
        <span class={check.unsupported > 0 ? "warn-text" : "good-text"}>
          {check.supported} of {several(check.supported + check.unsupported, "sentence")} supported ·{" "}
        </span>
      )}
      {usage?.prompt_tokens !== undefined && `${tokens(usage.prompt_tokens)} read, ${tokens(usage.completion_tokens ?? 0)} written · `}
      {took}
      {answer.trace && (
        <>
          {" · "}
          <a href={link("trace", answer.trace)}>plan</a>
        </>
      )}
    </small>
  );
}
