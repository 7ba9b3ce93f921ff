import { expect, test } from "vitest";
import { spendFigures } from "./spend-figures.ts";

test("days without usage cost zero, and the last day is today", () => {
  const rows = [
    { day: "2026-03-10", agent_id: "a", usd: 1, sessions: 1 },
    { day: "2026-03-10", agent_id: "b", usd: 2, sessions: 1 },
    { day: "2026-03-08", agent_id: "a", usd: 4, sessions: 2 },
  ];
  expect(spendFigures(rows, new Date("2026-03-10T23:00:00Z"), 3)).toEqual({
    today: 3,
    total: 7,
    days: [
      { day: "2026-03-08", usd: 4 },
      { day: "2026-03-09", usd: 0 },
      { day: "2026-03-10", usd: 3 },
    ],
    byAgent: [
      { agent: "a", usd: 5 },
      { agent: "b", usd: 2 },
    ],
  });
});
