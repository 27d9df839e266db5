// The prompt as the model reads it, by its chat template. Asked for when it is opened.
import { useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import type { RenderedPrompt } from "../api/types";
import { Failure } from "./bits";
import { bytes } from "./format";

// Characters that a page does not show, or that change how text beside them is shown: controls but for line breaks and tabs,
// marks of direction, blanks without width.
const hidden = /([\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}])/u;

export interface Piece {
  text: string;
  code?: string; // of a hidden character, which is shown instead of it
}

export function visible(text: string): Piece[] {
  const code = (character: string) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  return text
    .split(hidden) // every second part is what the expression found
    .map((part, i): Piece => (i % 2 === 0 ? { text: part } : { text: part, code: code(part) }))
    .filter((piece) => piece.text !== "");
}

const mostMarks = 5_000; // elements for hidden characters; more of them are shown as a replacement character

function Text({ text }: { text: string }) {
  const pieces = useMemo(() => visible(text), [text]);
  let marks = 0;
  return (
    <>
      {pieces.map((piece, i) =>
        piece.code === undefined ? (
          piece.text
        ) : marks++ < mostMarks ? (
          <span class="hidden-character" key={i}>
            {piece.code}
          </span>
        ) : (
          "\uFFFD"
        ),
      )}
    </>
  );
}

export function Prompt({ body }: { body: object }) {
  const [found, setFound] = useState<RenderedPrompt | null>(null);
  const [problem, setProblem] = useState("");
  const [asked, setAsked] = useState(false);
  const open = () => {
    if (asked) return;
    setAsked(true);
    api.render(body).then(setFound, (error: Error) => setProblem(error.message));
  };
  return (
    <details class="prompt" onToggle={(event) => event.currentTarget.open && open()}>
      <summary>Show the prompt</summary>
      <Failure text={problem} />
      {asked && !found && !problem && <p class="dim">The gateway renders it.</p>}
      {found && typeof found.text !== "string" && <p class="dim">It cannot be shown: {found.why}.</p>}
      {found && typeof found.text === "string" && (
        <>
          <p class="dim">
            Template {found.template}, {bytes(found.bytes ?? 0)}
            {found.why ? `; ${found.exactness}: ${found.why}` : ""}
          </p>
          <pre tabIndex={0} dir="ltr" aria-label="The prompt as the model reads it">
            <Text text={found.text} />
            {found.end && (
              <>
                <b class="gap">{` … ${bytes(found.left_out_bytes ?? 0)} are not shown … `}</b>
                <Text text={found.end} />
              </>
            )}
          </pre>
        </>
      )}
    </details>
  );
}
