import { useEffect, useRef } from "preact/hooks";
import { api } from "../api/client";
import { Failure, Heading, useLoaded } from "../parts/bits";
import { bytes, several, tokens } from "../parts/format";
import { link } from "../route";

// A document as text, open at a passage.
export function DocumentPage({ index, document, start, end }: { index: string; document: string; start: number; end: number }) {
  const { value, error } = useLoaded(() => api.text(index, document, start, end), [index, document, start, end]);
  const passage = useRef<HTMLElement>(null);
  useEffect(() => passage.current?.scrollIntoView({ block: "center" }), [value]);
  return (
    <section class="page document-page">
      <Heading title={<bdi>{document}</bdi>}>
        <a href={link("documents", index)}>
          All of <bdi>{index}</bdi>
        </a>
      </Heading>
      <Failure text={error} />
      {value && (
        <>
          <p class="facts dim">
            {value.media_type} · {bytes(value.bytes)} · {tokens(value.tokens)} tokens · {several(value.chunks, "chunk")}
            {value.is_cut && " · only the surroundings of the passage are shown"}
          </p>
          <pre class="document-text card" dir="auto" tabIndex={0}>
            {value.before}
            {value.passage && <mark ref={passage}>{value.passage}</mark>}
            {value.after}
          </pre>
        </>
      )}
    </section>
  );
}
