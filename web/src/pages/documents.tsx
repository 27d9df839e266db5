import { useRef, useState } from "preact/hooks";
import { api, upload } from "../api/client";
import type { DocumentInfo, Found, UploadJob } from "../api/types";
import { Empty, Failure, Heading, useLoaded } from "../parts/bits";
import { bytes, date, place, several, tokens } from "../parts/format";
import { VirtualList } from "../parts/virtual_list";
import { documentLink, link } from "../route";
import { Names } from "./names";
import { Card } from "./trace";

export function DocumentsPage({ index }: { index: string }) {
  const indexes = useLoaded(() => api.indexes(), []);
  const all = indexes.value ?? [];
  const current = all.find((one) => one.name === index) ?? (index ? undefined : all[0]);
  const [target, setTarget] = useState("");
  const name = current?.name ?? index;
  return (
    <section class="page documents">
      <Heading title="Documents" />
      <Failure text={indexes.error} />
      <div class="with-list">
        <nav class="list card" aria-label="Indexes">
          {all.map((one) => (
            <a key={one.name} href={link("documents", one.name)} aria-current={one.name === current?.name ? "page" : undefined}>
              <b>
                <bdi>{one.name}</bdi>
              </b>
              <small class="dim">
                {several(one.documents, "document")}, {tokens(one.tokens)} tokens
              </small>
            </a>
          ))}
          <label class="field">
            <span>New index</span>
            <input value={target} placeholder="name" onInput={(event) => setTarget(event.currentTarget.value)} />
          </label>
        </nav>
        <div>
          <UploadBox index={target.trim() || name} onDone={(into) => (indexes.again(), setTarget(""), (location.hash = link("documents", into)))} />
          {current ? (
            <Index key={`${current.name} ${current.updated_ms} ${current.documents}`} name={current.name} onChange={indexes.again} />
          ) : (
            !indexes.busy && (
              <Empty title="No index yet">
                <p>Name a new index and drop files on the field above, or use `plimsoll index add`.</p>
              </Empty>
            )
          )}
        </div>
      </div>
    </section>
  );
}

const stages: Record<string, string> = { queued: "waiting", running: "reading", done: "done", failed: "failed", interrupted: "interrupted" };

function UploadBox({ index, onDone }: { index: string; onDone: (index: string) => void }) {
  const [over, setOver] = useState(false);
  const [sent, setSent] = useState<number | null>(null);
  const [job, setJob] = useState<UploadJob | null>(null);
  const [problem, setProblem] = useState("");
  const input = useRef<HTMLInputElement>(null);

  const take = async (files: File[]) => {
    if (files.length === 0) return;
    if (!index) return setProblem("Name the index first.");
    setProblem("");
    setJob(null);
    setSent(0);
    try {
      let state = await upload(index, files, setSent);
      setSent(null);
      for (;;) {
        state = await api.job(state.job_id);
        setJob(state);
        if (state.status !== "queued" && state.status !== "running") break;
        await new Promise((done) => setTimeout(done, 150));
      }
      if (state.documents.added + state.documents.updated > 0) onDone(index);
    } catch (error) {
      setProblem((error as Error).message);
      setSent(null);
    }
  };

  const done = job ? job.documents.done / Math.max(1, job.documents.total) : 0;
  return (
    <div
      class={over ? "drop card over" : "drop card"}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void take([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <p>
        Drop files here for <b>{index ? <bdi>{index}</bdi> : "a new index"}</b>, or{" "}
        <button type="button" class="as-link" onClick={() => input.current?.click()}>
          choose files
        </button>
        . <span class="dim">Markdown, HTML, PDF, .docx, source code, CSV, JSON, text.</span>
      </p>
      <input ref={input} type="file" multiple hidden aria-label="Files" onChange={(event) => void take([...(event.currentTarget.files ?? [])])} />
      {sent !== null && <progress max={1} value={sent} aria-label="Sending" />}
      {job && (
        <p role="status" class="job">
          <progress max={1} value={done} aria-label="Reading" /> {stages[job.status]} {job.status === "running" && <bdi>{job.document}</bdi>}: {job.documents.added} added, {job.documents.updated} updated,{" "}
          {job.documents.unchanged} unchanged{job.documents.failed > 0 && <b class="warn-text">, {job.documents.failed} failed</b>}
        </p>
      )}
      {job?.errors.map((one, i) => <Failure key={i} text={`${one.document ?? ""} ${one.error ?? ""}`} />)}
      <Failure text={problem} />
    </div>
  );
}

function Index({ name, onChange }: { name: string; onChange: () => void }) {
  const page = useLoaded(() => everyDocument(name), [name]);
  const [asked, setAsked] = useState("");
  const [budget, setBudget] = useState(500);
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState("");
  const search = (query: string, most: number) => query.trim() && api.search(name, query, most).then((got) => (setFound(got), setProblem("")), (error: Error) => setProblem(error.message));
  const removed = async (work: Promise<unknown>) => {
    await work.catch((error: Error) => setProblem(error.message));
    onChange();
  };
  const documents = page.value ?? [];
  return (
    <>
      <Card title="Search within a budget" note={found ? `${several(found.passages.length, "passage")}, ${tokens(found.tokens)} of ${tokens(found.budget)} tokens (${found.tokenizer})` : ""}>
        <form
          class="search"
          onSubmit={(event) => {
            event.preventDefault();
            void search(asked, budget);
          }}
        >
          <input type="search" aria-label="Question" placeholder="What do you want to know?" value={asked} onInput={(event) => setAsked(event.currentTarget.value)} />
          <button type="submit" class="primary">
            Search
          </button>
        </form>
        <label class="slider">
          <span>Budget</span>
          <input type="range" min={50} max={4_000} step={50} value={budget} onInput={(event) => setBudget(Number(event.currentTarget.value))} onChange={() => void search(asked, budget)} />
          <output>{tokens(budget)} tokens</output>
        </label>
        <Failure text={problem} />
        {found?.notes.map((note) => (
          <p class="note" key={note}>
            {note}
          </p>
        ))}
        <ul class="passages">
          {found?.passages.map((one) => (
            <li key={`${one.document} ${one.start}`}>
              <a href={documentLink(name, one.document, one.start, one.end)}>
                <bdi>{one.document}</bdi>
              </a>
              <span class="dim">
                {place(one)} {one.heading && <bdi>· {one.heading}</bdi>}
              </span>
              <span class="number">{tokens(one.tokens)} tokens</span>
              <meter min={0} max={1} value={Math.max(0, Math.min(1, one.score))} aria-label={`Score ${one.score.toFixed(2)}`} />
              <span class="dim reason">{one.reason}</span>
              <blockquote dir="auto">
                <mark>{one.text}</mark>
              </blockquote>
            </li>
          ))}
        </ul>
      </Card>
      <Names index={name} />
      <Card title="Documents" note={several(documents.length, "document")}>
        <Failure text={page.error} />
        <div class={`pieces${documents.length > 8 ? " long" : ""}`}>
          <VirtualList items={documents} rowHeight={44} label={`Documents of ${name}`} keyOf={(one) => one.document} row={(one) => <DocumentRow index={name} info={one} most={largest(documents)} onDelete={() => void removed(api.deleteDocument(name, one.document))} />} />
        </div>
        <Confirm label={`Delete ${name}`} question={`Delete ${name} with ${several(documents.length, "document")}?`} onYes={() => void removed(api.deleteIndex(name).then(() => (location.hash = link("documents"))))} />
      </Card>
    </>
  );
}

async function everyDocument(name: string): Promise<DocumentInfo[]> {
  const all: DocumentInfo[] = [];
  for (let after = 0; ; ) {
    const { data } = await api.documents(name, after);
    all.push(...data);
    const last = data[data.length - 1];
    if (data.length < 200 || !last) return all;
    after = last.cursor;
  }
}

function largest(documents: readonly DocumentInfo[]): number {
  return documents.reduce((most, one) => Math.max(most, one.tokens), 1);
}

function DocumentRow({ index, info, most, onDelete }: { index: string; info: DocumentInfo; most: number; onDelete: () => void }) {
  return (
    <div class="document">
      <a href={documentLink(index, info.document)} title={info.document}>
        <bdi>{info.document}</bdi>
      </a>
      <meter min={0} max={most} value={info.tokens} aria-label={`${tokens(info.tokens)} tokens`} />
      <span class="number">{tokens(info.tokens)} tokens</span>
      <span class="dim wide">{info.media_type}</span>
      <span class="dim number wide">{bytes(info.bytes)}</span>
      <span class="dim wide">{date(info.added_ms)}</span>
      <Confirm label="Delete" question={`Delete ${info.document}?`} onYes={onDelete} />
    </div>
  );
}

// A button that asks once more.
export function Confirm({ label, question, onYes }: { label: string; question: string; onYes: () => void }) {
  const [asking, setAsking] = useState(false);
  if (!asking)
    return (
      <button type="button" class="quiet" aria-label={question.replace("?", "")} onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  return (
    <span class="confirm" role="alertdialog" aria-label={question}>
      <button type="button" class="danger" onClick={() => (setAsking(false), onYes())}>
        Delete
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Keep
      </button>
    </span>
  );
}

