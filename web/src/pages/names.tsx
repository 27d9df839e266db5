// The names in an index, and what is around one of them: the documents that mention it, and the names beside it.
import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { NameGraph } from "../api/types";
import { Failure, useLoaded } from "../parts/bits";
import { several } from "../parts/format";
import { documentLink } from "../route";
import { Card } from "./trace";

const shown = 20; // most names and documents

export function Names({ index }: { index: string }) {
  const [name, setName] = useState("");
  const names = useLoaded(() => api.names(index, shown), [index]);
  const around = useLoaded(() => (name ? api.around(index, name, shown) : Promise.resolve(null)), [index, name]);
  if (names.value?.length === 0) return null;
  const found = around.value;
  return (
    <Card title="Names" note={found ? `${found.name}: in ${several(found.chunks, "chunk")}` : "what leads from one document to another"}>
      <Failure text={names.error ?? around.error} />
      <p class="names" role="group" aria-label="Most frequent names">
        {names.value?.map((one) => (
          <button key={one.name} type="button" class="quiet" aria-pressed={one.name === found?.name} onClick={() => setName(one.name)}>
            <bdi>{one.name}</bdi> <span class="dim">{one.chunks}</span>
          </button>
        ))}
      </p>
      {found && <Around index={index} found={found} onName={setName} />}
    </Card>
  );
}

function Around({ index, found, onName }: { index: string; found: NameGraph; onName: (name: string) => void }) {
  const documents = [...new Set([...found.title_of, ...found.other_name_in, ...found.mentioned_in])];
  return (
    <div class="around">
      <Ring found={found} onName={onName} />
      <div>
        <h3>Documents</h3>
        <ul class="plain">
          {documents.map((one) => (
            <li key={one}>
              <a href={documentLink(index, one)}>
                <bdi>{one}</bdi>
              </a>{" "}
              {found.title_of.includes(one) && <span class="dim">its title</span>}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

const size = { width: 420, height: 280 };

// Where a name of the ring is drawn, and how its text is aligned.
export function placeOnRing(i: number, count: number): { x: number; y: number; anchor: "start" | "middle" | "end" } {
  const angle = (2 * Math.PI * i) / Math.max(1, count) - Math.PI / 2;
  const x = size.width / 2 + 120 * Math.cos(angle);
  const y = size.height / 2 + 110 * Math.sin(angle);
  const side = Math.cos(angle);
  return { x: Math.round(x), y: Math.round(y), anchor: side > 0.3 ? "start" : side < -0.3 ? "end" : "middle" };
}

function Ring({ found, onName }: { found: NameGraph; onName: (name: string) => void }) {
  const names = found.names.slice(0, 12);
  const most = Math.max(1, ...names.map((one) => one.chunks));
  return (
    <svg class="ring" viewBox={`-60 -10 ${size.width + 120} ${size.height + 20}`} role="group" aria-label={`Names beside ${found.name}`}>
      {names.map((one, i) => {
        const at = placeOnRing(i, names.length);
        return <line key={one.name} x1={size.width / 2} y1={size.height / 2} x2={at.x} y2={at.y} stroke-width={1 + (3 * one.chunks) / most} />;
      })}
      <text class="middle" x={size.width / 2} y={size.height / 2} text-anchor="middle" dominant-baseline="middle">
        {short(found.name)}
      </text>
      {names.map((one, i) => {
        const at = placeOnRing(i, names.length);
        const choose = () => onName(one.name);
        return (
          <text
            key={one.name}
            x={at.x}
            y={at.y}
            text-anchor={at.anchor}
            dominant-baseline="middle"
            role="button"
            tabindex={0}
            aria-label={`${one.name}, together in ${several(one.chunks, "chunk")}`}
            onClick={choose}
            onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose())}
          >
            {short(one.name)}
          </text>
        );
      })}
    </svg>
  );
}

function short(name: string): string {
  const letters = [...name];
  return letters.length > 24 ? `${letters.slice(0, 23).join("")}…` : name;
}
