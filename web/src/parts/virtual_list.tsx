// A list that holds only the rows that can be seen, for lists of any length. All rows have one height.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

interface Props<T> {
  items: readonly T[];
  rowHeight: number;
  label: string;
  keyOf: (item: T) => string;
  row: (item: T) => ComponentChildren;
  // Where rows are added at the top, what is being read stays where it is.
  growsAtTop?: boolean;
}

const extra = 6; // rows above and below what is seen

export function VirtualList<T>({ items, rowHeight, label, keyOf, row, growsAtTop = false }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const before = useRef(items);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    const old = before.current;
    before.current = items;
    const first = old[0];
    if (!element || !growsAtTop || element.scrollTop === 0 || first === undefined || items === old) return;
    const key = keyOf(first);
    const added = items.findIndex((item) => keyOf(item) === key);
    if (added > 0) element.scrollTop += added * rowHeight;
  }, [items]);

  const first = Math.max(0, Math.floor(seen.top / rowHeight) - extra);
  const last = Math.min(items.length, Math.ceil((seen.top + seen.height) / rowHeight) + extra);
  return (
    <div class="virtual" ref={box} tabIndex={0} role="region" aria-label={label}>
      <svg class="virtual-space" width="1" height={items.length * rowHeight} aria-hidden="true" />
      <ul class="virtual-rows" style={{ transform: `translateY(${first * rowHeight}px)` }}>
        {items.slice(first, last).map((item, i) => (
          <li key={keyOf(item)} aria-setsize={items.length} aria-posinset={first + i + 1} style={{ height: `${rowHeight}px` }}>
            {row(item)}
          </li>
        ))}
      </ul>
    </div>
  );
}
