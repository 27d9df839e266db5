// An answer with its sentences marked by whether the passages support them.
import type { CheckedSentence } from "../api/types";

export interface MarkedText {
  text: string;
  verdict: string;
  passages: number[];
  reason: string | null;
}

// Cuts the answer into checked sentences and what is between them.
export function marked(answer: string, sentences: readonly CheckedSentence[]): MarkedText[] {
  const out: MarkedText[] = [];
  let at = 0;
  for (const sentence of sentences) {
    const found = answer.indexOf(sentence.text, at);
    if (found < 0 || sentence.text === "") continue;
    if (found > at) out.push({ text: answer.slice(at, found), verdict: "", passages: [], reason: null });
    out.push(sentence);
    at = found + sentence.text.length;
  }
  if (at < answer.length) out.push({ text: answer.slice(at), verdict: "", passages: [], reason: null });
  return out;
}

const said: Record<string, string> = {
  supported: "The passages say this",
  unsupported: "No passage says this",
};

export function AnswerText({ text, sentences, onSource }: { text: string; sentences: readonly CheckedSentence[]; onSource: (number: number) => void }) {
  return (
    <div class="answer-text" dir="auto">
      {marked(text, sentences).map((part, i) =>
        part.verdict ? (
          <span key={i} class={`sentence ${part.verdict}`} title={part.reason ?? said[part.verdict] ?? part.verdict}>
            {part.text}
            {part.passages.map((number) => (
              <button type="button" class="cite" key={number} onClick={() => onSource(number)} aria-label={`Source ${number}`}>
                {number}
              </button>
            ))}
          </span>
        ) : (
          <span key={i}>{part.text}</span>
        ),
      )}
    </div>
  );
}
