// Requests to the gateway that served this page. The key is kept in this variable only: a reload forgets it.
import type * as t from "./types";

let key = "";
let onRefused: () => void = () => {};

export function setKey(value: string): void {
  key = value;
}

// Called when the gateway asks for a key.
export function whenRefused(call: () => void): void {
  onRefused = call;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

function headers(json: boolean): Record<string, string> {
  const out: Record<string, string> = { Accept: "application/json" };
  if (json) out["Content-Type"] = "application/json";
  if (key) out["Authorization"] = `Bearer ${key}`;
  return out;
}

// The sentence of an error in any of the gateway's forms.
export function sentenceOf(body: unknown, status: number): string {
  const error = body as { detail?: unknown; error?: { message?: string } | string } | null;
  if (typeof error?.detail === "string") return error.detail;
  if (Array.isArray(error?.detail)) return error.detail.map((one) => (one as { msg?: string }).msg ?? String(one)).join("; ");
  if (typeof error?.error === "string") return error.error;
  if (error?.error?.message) return error.error.message;
  return `The gateway answered with status ${status}.`;
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  if (response.status === 401) onRefused();
  throw new ApiError(response.status, sentenceOf(await response.json().catch(() => null), response.status));
}

export async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = { method, headers: headers(body !== undefined), cache: "no-store" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  return checked(await fetch(path, init));
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await send("GET", path, undefined, signal)).json()) as T;
}

async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await (await send("POST", path, body, signal)).json()) as T;
}

async function remove(path: string): Promise<void> {
  await send("DELETE", path);
}

interface List<T> {
  data: T[];
}

const part = encodeURIComponent;

export const api = {
  account: () => get<t.Account>("/v1/account"),
  ready: () => get<{ version: string; upstreams: t.UpstreamState[] }>("/ready"),
  models: () => get<List<t.ModelInfo>>("/v1/models").then((list) => list.data),
  refreshModels: () => post<List<t.ModelInfo>>("/admin/models/refresh", {}).then((list) => list.data),
  usage: (days: number, by: string) => get<t.Usage>(`/v1/usage?days=${days}&by=${by}`),
  traces: (limit: number, session = "", after = "") =>
    get<List<t.TraceSummary>>(`/v1/traces?limit=${limit}&session=${part(session)}&after=${part(after)}`).then((l) => l.data),
  trace: (id: string) => get<t.Trace>(`/v1/traces/${part(id)}`),
  watch: (signal: AbortSignal) => send("GET", "/v1/traces/stream", undefined, signal),
  plan: (body: unknown, window?: number, signal?: AbortSignal) =>
    post<t.Plan>(`/v1/plan${window ? `?window=${window}` : ""}`, body, signal),
  render: (body: unknown) => post<t.Plan & { rendered: t.RenderedPrompt }>("/v1/plan?render=true", body).then((plan) => plan.rendered),
  count: (body: { model: string; messages: t.SentMessage[] }, signal?: AbortSignal) =>
    post<{ tokens: number; window?: number; exactness?: string }>("/v1/count", body, signal),
  chat: (body: t.ChatBody, signal: AbortSignal) => send("POST", "/v1/chat/completions", body, signal),
  indexes: () => get<List<t.IndexInfo>>("/v1/indexes").then((list) => list.data),
  documents: (index: string, after = 0) =>
    get<{ total: number; data: t.DocumentInfo[] }>(`/v1/indexes/${part(index)}/documents?limit=200&after=${after}`),
  text: (index: string, document: string, start: number, end: number) =>
    get<t.DocumentText>(`/v1/indexes/${part(index)}/text?document=${part(document)}&start=${start}&end=${end}`),
  search: (index: string, query: string, budget: number) => post<t.Found>("/v1/search", { index, query, budget }),
  names: (index: string, limit: number) => get<{ names: t.NameCount[] }>(`/v1/indexes/${part(index)}/names?limit=${limit}`).then((found) => found.names),
  around: (index: string, entity: string, limit: number) =>
    get<t.NameGraph>(`/v1/indexes/${part(index)}/names?limit=${limit}&entity=${part(entity)}`),
  deleteIndex: (index: string) => remove(`/indexes/${part(index)}`),
  deleteDocument: (index: string, document: string) =>
    post(`/indexes/${part(index)}/documents/delete`, { doc_ids: [document] }),
  job: (id: string) => get<t.UploadJob>(`/jobs/${part(id)}`),
  startEvaluation: (collection_id: string, llm_model: string, questions: string[]) =>
    post<{ run_id: string }>("/evaluation/plugin/start-with-questions", { collection_id, llm_model, questions }),
  evaluations: () => get<List<t.EvaluationInfo>>("/evaluation/runs?limit=100").then((list) => list.data),
  evaluation: (id: string) => get<t.EvaluationRun>(`/evaluation/runs/${part(id)}`),
  memories: (query: string, limit: number) =>
    get<List<t.Memory>>(`/v1/memories?limit=${limit}&query=${part(query)}`).then((list) => list.data),
  addMemory: (text: string, importance: number) => post<t.Memory>("/v1/memories", { text, importance }),
  rateMemory: (id: string, helpful: boolean) => post<t.Memory>(`/v1/memories/${part(id)}/feedback`, { helpful }),
  deleteMemory: (id: string) => remove(`/v1/memories/${part(id)}`),
};

// Uploads files to an index. `progress` is called with the share of the bytes that are sent.
export function upload(index: string, files: readonly File[], progress: (share: number) => void): Promise<t.UploadJob> {
  const form = new FormData();
  form.append("index", index);
  for (const file of files) form.append("file", file, file.name);
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest(); // fetch does not tell how much is sent
    request.open("POST", "/documents");
    if (key) request.setRequestHeader("Authorization", `Bearer ${key}`);
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => failed(new ApiError(0, "The gateway cannot be reached."));
    request.onload = () =>
      request.status < 300
        ? done(request.response as t.UploadJob)
        : failed(new ApiError(request.status, sentenceOf(request.response, request.status)));
    request.send(form);
  });
}
