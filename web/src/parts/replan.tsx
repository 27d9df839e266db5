// Plans a request again for a smaller window or budget, and shows what would come and go.
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client";
import type { Piece, Plan } from "../api/types";
import { Failure, useSettled } from "./bits";
import { several, tokens } from "./format";
import { WindowBar } from "./window_bar";
import { partsOf } from "./window_parts";

interface Change {
  come: Piece[];
  go: Piece[];
}

// Pieces by id; a passage that is planned again keeps its id.
export function changes(before: readonly Piece[], after: readonly Piece[]): Change {
  const was = new Set(before.filter((piece) => piece.fate === "kept").map((piece) => `${piece.section} ${piece.id}`));
  const is = new Set(after.filter((piece) => piece.fate === "kept").map((piece) => `${piece.section} ${piece.id}`));
  return {
    come: after.filter((piece) => piece.fate === "kept" && !was.has(`${piece.section} ${piece.id}`)),
    go: before.filter((piece) => piece.fate === "kept" && !is.has(`${piece.section} ${piece.id}`)),
  };
}

const mostListed = 12;

export function Replan({ body, plan }: { body: object; plan: Plan }) {
  const full = plan.window.tokens;
  const least = Math.min(full, 64);
  const [window, setWindow] = useState(full);
  const request = body as { index_name?: string; model?: string; plimsoll?: object };
  const searches = Boolean(request.index_name) || (request.model ?? "").includes("+");
  const contextUsed = plan.sections.find((section) => section.name === "context")?.used ?? 0;
  const mostBudget = Math.max(2_000, contextUsed * 2);
  const [budget, setBudget] = useState<number | null>(null);
  const wanted = useSettled(`${window} ${budget ?? ""}`, 200);
  const [then, setThen] = useState<Plan | null>(null);
  // The same request in its whole window. What was sent may differ: a kept request has its passages and its summary
  // inside already.
  const [whole, setWhole] = useState<Plan | null>(null);
  const [problem, setProblem] = useState("");

  useEffect(() => {
    if (window === full && budget === null) {
      setThen(null);
      setProblem("");
      return;
    }
    const abort = new AbortController();
    if (!whole) api.plan(request).then(setWhole, () => {});
    const asked = budget === null ? request : { ...request, plimsoll: { ...request.plimsoll, budget } };
    api.plan(asked, window === full ? undefined : window, abort.signal).then(
      (found) => {
        setThen(found);
        setProblem("");
      },
      (error: Error) => {
        if (abort.signal.aborted) return;
        setThen(null);
        setProblem(error.message);
      },
    );
    return () => abort.abort();
  }, [wanted]);

  const shown = then ?? plan;
  const { come, go } = changes(whole?.pieces ?? shown.pieces, shown.pieces);
  const hasPassagesInside = !searches && contextUsed > 0;
  return (
    <div class="replan">
      <label class="slider">
        <span>Window</span>
        <input type="range" min={least} max={full} step={Math.max(1, Math.round((full - least) / 500))} value={window} onInput={(event) => setWindow(Number(event.currentTarget.value))} />
        <output>{tokens(window)}</output>
      </label>
      {searches && (
        <label class="slider">
          <span>Passages</span>
          <input type="range" min={0} max={mostBudget} step={10} value={budget ?? contextUsed} onInput={(event) => setBudget(Number(event.currentTarget.value))} />
          <output>{budget === null ? `as sent, ${tokens(contextUsed)}` : `at most ${tokens(budget)}`}</output>
        </label>
      )}
      <WindowBar parts={partsOf(shown)} window={shown.window.tokens} tall />
      {hasPassagesInside && <p class="dim">The passages are part of the question here, as in the request that was sent.</p>}
      <Failure text={problem} />
      {then && !then.fits && <Failure text={`It would not fit: the least window is ${tokens(then.least_window ?? 0)} tokens.`} />}
      {then?.fits && come.length + go.length === 0 && <p class="dim">The same pieces would be sent; {tokens(then.answer_tokens)} tokens would remain for the answer.</p>}
      {then?.fits && <Moved title="would be left out" pieces={go} sign="−" />}
      {then?.fits && <Moved title="would be sent" pieces={come} sign="+" />}
    </div>
  );
}

function Moved({ title, pieces, sign }: { title: string; pieces: readonly Piece[]; sign: string }) {
  if (pieces.length === 0) return null;
  const sum = pieces.reduce((all, piece) => all + piece.tokens, 0);
  return (
    <div class="moved">
      <h3>
        {several(pieces.length, "piece")} {title}, {tokens(sum)} tokens
      </h3>
      <ul>
        {pieces.slice(0, mostListed).map((piece) => (
          <li key={piece.section + piece.id}>
            <span class={`swatch fill-${piece.section}`} aria-hidden="true" /> {sign} <bdi>{piece.id}</bdi> <span class="dim">{tokens(piece.tokens)}</span>
          </li>
        ))}
        {pieces.length > mostListed && <li class="dim">and {tokens(pieces.length - mostListed)} more</li>}
      </ul>
    </div>
  );
}
