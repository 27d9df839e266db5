// Requests that this page has made, so that they can be planned again. Kept in memory only.
import type { ChatBody } from "./types";

const requests = new Map<string, ChatBody>();
const most = 200;

export function keep(trace: string, body: ChatBody): void {
  requests.set(trace, body);
  const oldest = requests.keys().next();
  if (requests.size > most && !oldest.done) requests.delete(oldest.value);
}

export function kept(trace: string): ChatBody | undefined {
  return requests.get(trace);
}
