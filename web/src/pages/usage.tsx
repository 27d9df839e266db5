import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { Account, UsageRow } from "../api/types";
import { Empty, Failure, Heading, useLoaded } from "../parts/bits";
import { date, dollars, percent, several, short, tokens } from "../parts/format";
import { partNames } from "../parts/window_parts";
import { Card } from "./trace";

const dayMs = 86_400_000;
const written = new Set(["answer", "thinking"]);

export interface Group {
  name: string;
  requests: number;
  read: number;
  written: number;
  cost: number; // in billionths of a dollar, of the requests in `priced`
  priced: number;
  sections: Map<string, number>;
}

// Rows of one group have the tokens of its sections; the row without a section has the requests.
export function grouped(rows: readonly UsageRow[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const group = groups.get(row.group) ?? { name: row.group, requests: 0, read: 0, written: 0, cost: 0, priced: 0, sections: new Map() };
    groups.set(row.group, group);
    if (row.section === "") {
      group.requests += row.requests;
      group.cost += row.nano_usd ?? 0;
      group.priced += row.priced_requests;
    } else {
      group.sections.set(row.section, (group.sections.get(row.section) ?? 0) + row.tokens);
      if (written.has(row.section)) group.written += row.tokens;
      else group.read += row.tokens;
    }
  }
  return [...groups.values()];
}

// "$0.12", "$0.12 of 3" if the cost of the others is not known.
export function costOf(group: Pick<Group, "cost" | "priced" | "requests">): string {
  if (group.priced === 0) return "not known";
  return group.priced === group.requests ? dollars(group.cost) : `${dollars(group.cost)} of ${tokens(group.priced)}`;
}

// Said from four fifths of the daily budget on.
export function budgetAlert(used: number, daily: number): string | undefined {
  if (daily <= 0 || used < 0.8 * daily) return undefined;
  const left = Math.max(0, daily - used);
  return left > 0
    ? `${percent(used / daily)} of today's budget is used: ${tokens(left)} of ${tokens(daily)} tokens are left until midnight UTC.`
    : `Today's budget of ${tokens(daily)} tokens is used up: requests are refused until midnight UTC.`;
}

export function UsagePage({ account }: { account: Account }) {
  const [days, setDays] = useState(30);
  const byDay = useLoaded(() => api.usage(days, "day"), [days]);
  const byModel = useLoaded(() => api.usage(days, "model"), [days]);
  const perDay = grouped(byDay.value?.data ?? []);
  const models = grouped(byModel.value?.data ?? []);
  const all = perDay.reduce((sum, one) => sum + one.read + one.written, 0);
  const today = perDay.find((one) => Number(one.name) === byDay.value?.last_day);
  const usedToday = (today?.read ?? 0) + (today?.written ?? 0);
  const limits = account.key?.limits;
  const whole = perDay.reduce((sum, one) => ({ cost: sum.cost + one.cost, priced: sum.priced + one.priced, requests: sum.requests + one.requests }), { cost: 0, priced: 0, requests: 0 });
  return (
    <section class="page usage">
      <Heading title="Usage">
        <div class="segments" role="group" aria-label="Days">
          {[7, 30, 90].map((one) => (
            <button type="button" key={one} aria-pressed={days === one} onClick={() => setDays(one)}>
              {one} days
            </button>
          ))}
        </div>
      </Heading>
      <Failure text={byDay.error ?? byModel.error} />
      <Failure text={budgetAlert(usedToday, limits?.tokens_per_day ?? 0)} />
      <div class="tiles">
        <div class="tile">
          <span class="dim">{account.key ? "Key" : "Owner"}</span>
          <b class="name">{account.key?.name ?? "no key is needed"}</b>
          <small>{account.key ? `since ${date(account.key.created_ms)}, ${account.key.private_indexes ? "own indexes" : "shared indexes"}` : "everybody who reaches the port"}</small>
        </div>
        <div class="tile">
          <span class="dim">Today</span>
          <b>{tokens(usedToday)}</b>
          <small>{limits?.tokens_per_day ? `of ${tokens(limits.tokens_per_day)} tokens, ${percent(usedToday / limits.tokens_per_day)}` : "tokens, no daily limit"}</small>
        </div>
        <div class="tile">
          <span class="dim">In {days} days</span>
          <b>{short(all)}</b>
          <small>{several(whole.requests, "request")}</small>
        </div>
        <div class="tile">
          <span class="dim">Cost in {days} days</span>
          <b>{whole.priced > 0 ? dollars(whole.cost) : "not known"}</b>
          <small>{whole.priced > 0 ? `list price of ${tokens(whole.priced)} of ${several(whole.requests, "request")}` : "no request has a known price"}</small>
        </div>
        <div class="tile">
          <span class="dim">Limits per minute</span>
          <b>{limits?.requests_per_minute ? tokens(limits.requests_per_minute) : "none"}</b>
          <small>{limits?.tokens_per_minute ? `requests, ${tokens(limits.tokens_per_minute)} tokens` : "requests, no token limit"}</small>
        </div>
      </div>
      {byDay.value && all === 0 ? (
        <Empty title="No tokens yet" />
      ) : (
        <>
          {byDay.value && <Days groups={perDay} first={byDay.value.first_day} last={byDay.value.last_day} />}
          <Groups title="By model" groups={models.map((one) => ({ ...one, name: one.name || "no answer" }))} />
        </>
      )}
    </section>
  );
}

// Tokens of each day, by section, from the bottom up.
function Days({ groups, first, last }: { groups: readonly Group[]; first: number; last: number }) {
  const known = new Map(groups.map((one) => [Number(one.name), one]));
  const most = groups.reduce((high, one) => Math.max(high, one.read + one.written), 1);
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return (
    <Card title="Tokens by day" note={`at most ${short(most)} a day; days in UTC`}>
      <div class="days" role="img" aria-label={`Tokens of ${days.length} days, at most ${tokens(most)} on one day`}>
        {days.map((day) => {
          const group = known.get(day);
          let at = 0;
          return (
            <svg key={day} viewBox={`0 0 1 ${most}`} preserveAspectRatio="none">
              <title>{`${date(day * dayMs)}: ${tokens((group?.read ?? 0) + (group?.written ?? 0))} tokens, ${several(group?.requests ?? 0, "request")}${group && group.priced > 0 ? `, ${costOf(group)}` : ""}`}</title>
              <rect class="day-back" width={1} height={most} />
              {["prompt", "summary", ...partNames].map((name) => {
                const height = group?.sections.get(name) ?? 0;
                at += height;
                return height > 0 && <rect key={name} class={`part-${name}`} x={0} y={most - at} width={1} height={height} />;
              })}
            </svg>
          );
        })}
      </div>
      <div class="axis dim">
        <span>{date(first * dayMs)}</span>
        <span>{date(last * dayMs)}</span>
      </div>
    </Card>
  );
}

function Groups({ title, groups }: { title: string; groups: readonly Group[] }) {
  const sum = groups.reduce((all, one) => all + one.read + one.written, 0) || 1;
  return (
    <Card title={title}>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th>Model</th>
              <th class="number">Requests</th>
              <th class="number">Read</th>
              <th class="number">Written</th>
              <th class="number">Share</th>
              <th class="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((one) => (
              <tr key={one.name}>
                <td>
                  <bdi>{one.name}</bdi>
                </td>
                <td class="number">{tokens(one.requests)}</td>
                <td class="number">{tokens(one.read)}</td>
                <td class="number">{tokens(one.written)}</td>
                <td class="number">{percent((one.read + one.written) / sum)}</td>
                <td class="number">{costOf(one)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
