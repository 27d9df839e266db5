// What the gateway takes and gives: schemas.ts is made from its own description, /openapi.json.
import type { Chat, TraceSummary, Trace } from "./schemas";

export type * from "./schemas";

export interface SentMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

// A chat as this page sends it.
export interface ChatBody extends Omit<Chat, "messages"> {
  model: string;
  messages: SentMessage[];
  stream_options?: { include_usage: boolean };
}

// What a list of requests and a whole request have in common.
export type AnyTrace = Trace | TraceSummary;
