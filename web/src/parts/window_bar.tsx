// The window of a request, drawn to scale.
import { partMeaning, partNames, type WindowPart } from "./window_parts";
import { percent, tokens } from "./format";

interface Props {
  parts: readonly WindowPart[];
  window: number;
  tall?: boolean;
}

function description(parts: readonly WindowPart[], window: number): string {
  const said = parts.filter((part) => part.name !== "left").map((part) => `${part.name} ${tokens(part.tokens)}`);
  return `Window of ${tokens(window)} tokens: ${said.join(", ")}`;
}

// The colours of the sections.
export function Legend() {
  return (
    <ul class="legend small" aria-label="Colours of the sections">
      {partNames
        .filter((name) => name !== "left")
        .map((name) => (
          <li key={name}>
            <span class={`swatch fill-${name}`} aria-hidden="true" />
            {name}
          </li>
        ))}
    </ul>
  );
}

// A unit of the drawing is a token; the browser scales it, so widths are exact at any size.
export function WindowBar({ parts, window, tall = false }: Props) {
  const sum = parts.reduce((all, part) => all + part.tokens, 0);
  const width = Math.max(window, sum, 1);
  let at = 0;
  return (
    <svg
      class={tall ? "bar tall" : "bar"}
      viewBox={`0 0 ${width} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={description(parts, window)}
      data-window={window}
    >
      {parts.map((part) => {
        const x = at;
        at += part.tokens;
        return (
          <rect key={part.name} class={`part-${part.name}`} x={x} y={0} width={part.tokens} height={1} data-part={part.name} data-tokens={part.tokens}>
            <title>{`${part.name}: ${tokens(part.tokens)} tokens`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

export function WindowLegend({ parts, window }: { parts: readonly WindowPart[]; window: number }) {
  return (
    <ul class="legend">
      {parts.map((part) => (
        <li key={part.name} title={partMeaning[part.name]}>
          <span class={`swatch fill-${part.name}`} aria-hidden="true" />
          <span>{part.name}</span>
          <b>{tokens(part.tokens)}</b>
          <span class="dim">{percent(part.tokens / Math.max(1, window))}</span>
        </li>
      ))}
    </ul>
  );
}
