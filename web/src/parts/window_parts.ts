// How the window of a request is divided, from left to right.

export interface WindowPart {
  name: string;
  tokens: number;
}

// In the order in which they are drawn; `left` is what nothing uses.
export const partNames = [
  "template",
  "system",
  "tools",
  "memory",
  "history",
  "context",
  "question",
  "thinking",
  "answer",
  "margin",
  "left",
] as const;

export const partMeaning: Record<string, string> = {
  template: "tokens of the chat format itself",
  system: "the system prompt",
  tools: "definitions of tools",
  memory: "remembered facts",
  history: "earlier turns",
  context: "passages from documents",
  question: "the last message",
  thinking: "reserved for reasoning",
  answer: "reserved for the answer",
  margin: "kept free, because counts may be off",
  left: "not used",
  prompt: "the whole prompt",
};

interface Divided {
  window?: number | { tokens: number };
  sections: { name: string; used: number; grant: number }[];
  thinking_tokens: number;
  answer_tokens: number;
  margin: number;
  input_tokens: number;
}

// Input by section as it is used, then what is reserved. The sum of all parts is the window, unless the request
// does not fit.
export function partsOf(plan: Divided): WindowPart[] {
  const window = typeof plan.window === "object" ? plan.window.tokens : (plan.window ?? 0);
  const reserved = new Set(["thinking", "answer", "margin"]);
  const parts = plan.sections
    .filter((section) => !reserved.has(section.name))
    .map((section) => ({ name: section.name, tokens: section.used }));
  const known = parts.reduce((sum, part) => sum + part.tokens, 0);
  if (plan.sections.length === 0 && plan.input_tokens > 0) parts.push({ name: "prompt", tokens: plan.input_tokens });
  else if (plan.input_tokens > known) parts.push({ name: "template", tokens: plan.input_tokens - known });
  parts.push({ name: "thinking", tokens: plan.thinking_tokens });
  parts.push({ name: "answer", tokens: plan.answer_tokens });
  parts.push({ name: "margin", tokens: plan.margin });
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  if (window > used) parts.push({ name: "left", tokens: window - used });
  return joined(parts);
}

function joined(parts: WindowPart[]): WindowPart[] {
  const sums = new Map<string, number>();
  for (const part of parts) sums.set(part.name, (sums.get(part.name) ?? 0) + part.tokens);
  const order = ["prompt", ...partNames];
  return order.filter((name) => (sums.get(name) ?? 0) > 0).map((name) => ({ name, tokens: sums.get(name) ?? 0 }));
}
