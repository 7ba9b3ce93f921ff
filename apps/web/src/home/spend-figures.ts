import type { ResponseOf } from "@tandem/protocol";

type UsageOfDay = ResponseOf<"usage.list">["data"][number];

export interface Spend {
  today: number;
  total: number;
  /** One entry per day, also for days without usage; the last is today. */
  days: { day: string; usd: number }[];
  byAgent: { agent: string; usd: number }[];
}

const DAY_MS = 86_400_000;

/** Days are UTC days, like the server's. */
export function spendFigures(rows: readonly UsageOfDay[], now: Date, length = 30): Spend {
  const dayOf = (back: number): string => new Date(now.getTime() - back * DAY_MS).toISOString().slice(0, 10);
  const days = Array.from({ length }, (_, index) => {
    const day = dayOf(length - 1 - index);
    return { day, usd: sum(rows.filter((row) => row.day === day)) };
  });
  const agents = [...Map.groupBy(rows, ({ agent_id }) => agent_id)];
  return {
    today: days.at(-1)?.usd ?? 0,
    total: sum(rows),
    days,
    byAgent: agents.map(([agent, own]) => ({ agent, usd: sum(own) })).sort((a, b) => b.usd - a.usd),
  };
}

const sum = (rows: readonly { usd: number }[]): number => rows.reduce((total, { usd }) => total + usd, 0);
