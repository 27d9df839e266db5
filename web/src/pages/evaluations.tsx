import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import type { EvaluationRun } from "../api/types";
import { Badge, Choice, Failure, Field, Heading, useLoaded } from "../parts/bits";
import { date, several } from "../parts/format";
import { link } from "../route";
import { Card } from "./trace";

export function EvaluationsPage({ run }: { run: string }) {
  const models = useLoaded(() => api.models(), []);
  const runs = useLoaded(() => api.evaluations(), [run]);
  const indexes = useLoaded(() => api.indexes(), []);
  const names = useMemo(() => (models.value ?? []).filter((one) => !one.index && one.kind !== "embedding").map((one) => one.id), [models.value]);
  const collections = (indexes.value ?? []).map((one) => one.name);
  const [model, setModel] = useState("");
  const [index, setIndex] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const questions = text.split("\n").map((one) => one.trim()).filter(Boolean);

  const start = async () => {
    const asked = { model: model || (names[0] ?? ""), index: index || (collections[0] ?? "") };
    try {
      const { run_id } = await api.startEvaluation(asked.index, asked.model, questions);
      setProblem("");
      location.hash = link("evaluations", run_id);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };

  return (
    <section class="page evaluations">
      <Heading title="Evaluations" />
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <div class="controls">
          <Choice label="Index" value={index || (collections[0] ?? "")} options={collections} onChange={setIndex} />
          <Choice label="Model" value={model || (names[0] ?? "")} options={names} onChange={setModel} />
        </div>
        <Field label="Questions, one per line">
          <textarea rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <Failure text={problem || models.error || indexes.error} />
        <button type="submit" class="primary" disabled={questions.length === 0 || collections.length === 0 || names.length === 0}>
          Ask {questions.length > 0 ? several(questions.length, "question") : "questions"}
        </button>
      </form>
      <Failure text={runs.error} />
      {(runs.value?.length ?? 0) > 0 && (
        <nav class="list card" aria-label="Runs">
          {runs.value?.map((one) => (
            <a key={one.run_id} href={link("evaluations", one.run_id)} aria-current={one.run_id === run ? "page" : undefined}>
              <bdi>
                {one.collection_id}, {one.llm_model}
              </bdi>
              <small class="dim">
                {date(one.created_ms)}, {one.done} of {several(one.questions, "question")}, {one.status}
              </small>
            </a>
          ))}
        </nav>
      )}
      {run && <Run key={run} id={run} />}
    </section>
  );
}

function Run({ id }: { id: string }) {
  const [run, setRun] = useState<EvaluationRun | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const look = () =>
      api.evaluation(id).then(
        (found) => {
          setRun(found);
          if (found.status === "running") timer = setTimeout(look, 400);
        },
        (error: Error) => setProblem(error.message),
      );
    void look();
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <Card title="Answers" note={run ? `${run.status}, ${run.answered} answered, ${run.failed} failed` : ""}>
      <Failure text={problem} />
      <ol class="runs">
        {run?.results.map((one, i) => (
          <li key={i}>
            <b dir="auto">{one.question}</b>
            {one.error ? <Failure text={one.error} /> : <p dir="auto">{one.answer}</p>}
            <small class="dim">
              {several(one.passages?.length ?? 0, "passage")} · {one.seconds.toFixed(1)} s{" "}
              {one.trace && <a href={link("trace", one.trace)}>plan</a>} {one.error && <Badge kind="bad">failed</Badge>}
            </small>
          </li>
        ))}
      </ol>
    </Card>
  );
}
