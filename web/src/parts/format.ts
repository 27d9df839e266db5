// Numbers, times and names as people read them.

export function tokens(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

// "8.2 K", "128 K", "1 M": for narrow places.
export function short(count: number): string {
  const size = Math.abs(count);
  if (size >= 1e6) return `${trimmed(count / 1e6)} M`;
  if (size >= 1e3) return `${trimmed(count / 1e3)} K`;
  return String(Math.round(count));
}

function trimmed(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

export function duration(us: number): string {
  if (us < 1_000) return `${us} µs`;
  if (us < 1_000_000) return `${trimmed(us / 1_000)} ms`;
  if (us < 120_000_000) return `${trimmed(us / 1_000_000)} s`;
  return `${trimmed(us / 60_000_000)} min`;
}

export function clock(ms: number): string {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

export function date(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${trimmed(count / 1_000)} KB`;
  if (count < 1_000_000_000) return `${trimmed(count / 1_000_000)} MB`;
  return `${trimmed(count / 1_000_000_000)} GB`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;
}

export function signed(count: number): string {
  return count > 0 ? `+${tokens(count)}` : count < 0 ? `−${tokens(-count)}` : "0";
}

export function several(count: number, one: string, many = `${one}s`): string {
  return `${tokens(count)} ${count === 1 ? one : many}`;
}

// Billionths of a dollar: whole cents from a dollar up, as `plimsoll usage` shows them.
export function dollars(nano: number): string {
  if (nano >= 1e9) return `$${(Math.round(nano / 1e7) / 100).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${(nano / 1e9).toFixed(nano >= 1_000 || nano === 0 ? 6 : 9)}`;
}

// Where a passage is in its document.
export function place(passage: { page?: number; last_page?: number; first_line?: number; last_line?: number }): string {
  if (passage.page && passage.last_page && passage.last_page !== passage.page)
    return `pages ${passage.page}–${passage.last_page}`;
  if (passage.page) return `page ${passage.page}`;
  if (!passage.first_line) return "";
  return passage.last_line && passage.last_line !== passage.first_line
    ? `lines ${passage.first_line}–${passage.last_line}`
    : `line ${passage.first_line}`;
}
