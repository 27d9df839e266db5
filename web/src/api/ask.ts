// Asks a model and reads its answer as it comes.
import { ApiError, api } from "./client";
import { readEvents } from "./events";
import { keep } from "./kept_requests";
import type { ChatBody, Report } from "./types";

export interface Progress {
  text: string;
  reasoning: string;
  report: Report | null;
  trace: string;
  usage: { prompt_tokens?: number; completion_tokens?: number } | null;
  firstMs: number | null;
  tookMs: number | null;
}

export const nothingYet: Progress = { text: "", reasoning: "", report: null, trace: "", usage: null, firstMs: null, tookMs: null };

interface Chunk {
  choices?: { delta?: { content?: string | null; reasoning_content?: string | null } }[];
  usage?: Progress["usage"];
  plimsoll?: Report;
  error?: { message?: string };
}

export async function ask(body: ChatBody, show: (progress: Progress) => void, signal: AbortSignal): Promise<Progress> {
  const began = performance.now();
  const response = await api.chat({ ...body, stream: true, stream_options: { include_usage: true } }, signal);
  let now: Progress = { ...nothingYet, trace: response.headers.get("X-Plimsoll-Trace") ?? "" };
  if (now.trace) keep(now.trace, body);
  await readEvents(response, (events) => {
    for (const { data } of events) {
      if (data === "[DONE]") continue;
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error) throw new ApiError(502, chunk.error.message ?? "The answer broke off.");
      const delta = chunk.choices?.[0]?.delta;
      const said = delta?.content ?? "";
      now = {
        ...now,
        text: now.text + said,
        reasoning: now.reasoning + (delta?.reasoning_content ?? ""),
        report: chunk.plimsoll ?? now.report,
        usage: chunk.usage ?? now.usage,
        firstMs: now.firstMs ?? (said ? performance.now() - began : null),
      };
    }
    show(now);
  });
  now = { ...now, tookMs: performance.now() - began };
  show(now);
  return now;
}
