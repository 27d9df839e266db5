// Small pieces that several pages use.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

export interface Loaded<T> {
  value?: T;
  error?: string;
  busy: boolean;
  again: () => void;
}

// Loads when shown, when `keys` change and when `again` is called. A newer call wins.
export function useLoaded<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: string; busy: boolean }>({ busy: true });
  const [round, setRound] = useState(0);
  const turn = useRef(0);
  useEffect(() => {
    const mine = ++turn.current;
    setState((old) => ({ ...old, busy: true }));
    load().then(
      (value) => mine === turn.current && setState({ value, busy: false }),
      (error: Error) => mine === turn.current && setState({ error: error.message, busy: false }),
    );
  }, [...keys, round]);
  return { ...state, again: () => setRound((old) => old + 1) };
}

// A value that follows after a pause.
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

export function Failure({ text }: { text?: string | undefined }) {
  return text ? (
    <p class="failure" role="alert">
      {text}
    </p>
  ) : null;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Heading({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header class="heading">
      <h1>{title}</h1>
      <div class="actions">{children}</div>
    </header>
  );
}

export function Badge({ kind, children, title }: { kind: "good" | "warn" | "bad" | "plain"; children: ComponentChildren; title?: string }) {
  return (
    <span class={`badge ${kind}`} title={title}>
      {children}
    </span>
  );
}

// A label above its control.
export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

export function Choice({
  label,
  value,
  options,
  onChange,
  none,
}: {
  label: string;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
  none?: string;
}) {
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {options.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </Field>
  );
}
