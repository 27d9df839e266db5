import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { ModelInfo, TraceSummary } from "../api/types";
import { Badge, Empty, Failure, Heading, useLoaded } from "../parts/bits";
import { several, short, signed, tokens } from "../parts/format";
import { Card } from "./trace";

const confidence: Record<string, "good" | "warn" | "plain"> = { high: "good", medium: "plain", low: "warn" };

const mostDrift = 60;

// What upstreams read beside what was planned, by model: the newest last.
export function driftOf(traces: readonly TraceSummary[]): Map<string, number[]> {
  const all = new Map<string, number[]>();
  for (const trace of traces) {
    if (trace.drift === null) continue;
    const known = all.get(trace.model) ?? [];
    if (known.length < mostDrift) known.unshift(trace.drift);
    all.set(trace.model, known);
  }
  return all;
}

export function ModelsPage() {
  const ready = useLoaded(() => api.ready(), []);
  const models = useLoaded(() => api.models(), []);
  const traces = useLoaded(() => api.traces(500), []);
  const drift = driftOf(traces.value ?? []);
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    setBusy(true);
    await api.refreshModels().catch(() => []);
    ready.again();
    models.again();
    setBusy(false);
  };
  const served = (models.value ?? []).filter((one) => !one.index && one.kind !== "embedding");
  const falls = served.some((one) => one.fallback_place);
  const largest = served.reduce((most, one) => Math.max(most, one.context_window ?? 0), 1);
  return (
    <section class="page models">
      <Heading title="Models">
        <button type="button" onClick={() => void ask()} disabled={busy}>
          Ask the upstreams again
        </button>
      </Heading>
      <Failure text={ready.error ?? models.error} />
      <div class="tiles few">
        {ready.value?.upstreams.map((one) => (
          <div key={one.name} class={one.problem ? "tile bad" : "tile"}>
            <span class="dim">{one.kind}</span>
            <b class="name">
              <bdi>{one.name}</bdi>
            </b>
            <small title={one.problem ?? ""}>{one.problem ?? several(one.models, "model")}</small>
          </div>
        ))}
      </div>
      {models.value && served.length === 0 ? (
        <Empty title="No model is served" />
      ) : (
        <Card title="Windows" note="bars are to scale">
          <div class="scroll" tabIndex={0} role="region" aria-label="Models and their windows">
            <table>
              <thead>
                <tr>
                  <th>Model</th>
                  <th>Upstream</th>
                  <th class="number">Window</th>
                  <th aria-label="Window, drawn" />
                  <th>Source</th>
                  <th>Confidence</th>
                  <th>Tokenizer</th>
                  <th>Counts</th>
                  <th class="number">Margin</th>
                  {falls && <th class="number" title="The order in which models take over from one that is too small or does not answer">Fallback</th>}
                  <th class="number">Drift</th>
                </tr>
              </thead>
              <tbody>
                {served.map((one) => (
                  <ModelRow key={`${one.owned_by} ${one.id}`} model={one} largest={largest} falls={falls} drift={drift.get(one.id) ?? []} />
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      )}
    </section>
  );
}

// The drift of the latest requests around the line of no drift.
function Drift({ values }: { values: readonly number[] }) {
  const last = values[values.length - 1];
  if (last === undefined) return <>–</>;
  const most = Math.max(1, ...values.map(Math.abs));
  const label = `Drift of the last ${several(values.length, "request")}: from ${signed(Math.min(...values))} to ${signed(Math.max(...values))}, last ${signed(last)}`;
  return (
    <span class="drift-cell">
      <svg class="drift-line" viewBox={`0 ${-most} ${values.length} ${2 * most}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <rect class="day-back" y={-most} width={values.length} height={2 * most} />
        {values.map((value, i) => (
          <rect key={i} class={value === 0 ? "drift-none" : "drift-some"} x={i} y={Math.min(0, -value) - most / 20} width={0.8} height={Math.abs(value) + most / 10} />
        ))}
      </svg>
      {signed(last)}
    </span>
  );
}

function ModelRow({ model, largest, falls, drift }: { model: ModelInfo; largest: number; falls: boolean; drift: readonly number[] }) {
  const window = model.context_window ?? 0;
  const details = [model.family, model.parameters, model.quantization].filter(Boolean).join(", ");
  return (
    <tr>
      <td>
        <b>
          <bdi>{model.id}</bdi>
        </b>
        {details && <small class="dim"> {details}</small>}
      </td>
      <td>{model.owned_by}</td>
      <td class="number">{window > 0 ? short(window) : "–"}</td>
      <td class="drawn">
        <svg class="bar" viewBox={`0 0 ${largest} 1`} preserveAspectRatio="none" aria-hidden="true">
          <rect class="part-context" width={window} height={1} />
        </svg>
      </td>
      <td>
        {model.context_window_source ?? "–"}
        {model.context_window_served ? <small class="dim"> now {short(model.context_window_served)}</small> : null}
      </td>
      <td>{model.context_window_confidence && <Badge kind={confidence[model.context_window_confidence] ?? "plain"}>{model.context_window_confidence}</Badge>}</td>
      <td>{model.tokenizer ?? "–"}</td>
      <td title={model.why}>{model.exactness ?? "–"}</td>
      <td class="number">{model.margin === undefined ? "–" : tokens(model.margin)}</td>
      {falls && <td class="number">{model.fallback_place ?? "–"}</td>}
      <td class="number">
        <Drift values={drift} />
      </td>
    </tr>
  );
}
