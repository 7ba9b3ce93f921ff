import { between, type Scenario } from "./scenario.ts";

export const CALENDAR_SCENARIOS: readonly Scenario[] = [
  {
    title: "the day on which clocks go back has 25 hours",
    query: { metrics: ["value"], by: ["event.berlin.day"], where: between("2025-10-25", "2025-10-28", "event.berlin") },
    rows: [
      ["2025-10-25", 1],
      ["2025-10-26", 2 + 4 + 8 + 16],
      ["2025-10-27", 32],
    ],
  },
  {
    title: "the hour that occurs twice is one hour of the clock",
    query: { metrics: ["value"], by: ["time.hour"], where: between("2025-10-26T02:00", "2025-10-26T03:00") },
    rows: [["2025-10-26T02:00", 12]],
  },
  {
    title: "the same moments in New York",
    query: { metrics: ["value"], by: ["event.york.day"], where: between("2025-10-25", "2025-10-27", "event.york") },
    rows: [
      ["2025-10-25", 15],
      ["2025-10-26", 48],
    ],
  },
  {
    title: "the same moments in UTC",
    query: { metrics: ["value_utc"], by: ["time.day"], where: between("2025-10-25", "2025-10-27") },
    rows: [
      ["2025-10-25", 3],
      ["2025-10-26", 60],
    ],
  },
  {
    title: "the hour that clocks skip",
    query: { metrics: ["users"], by: ["time.hour"] },
    rows: [
      ["2026-03-28T23:00", 1],
      ["2026-03-29T00:00", 1],
      ["2026-03-29T01:00", 1],
      ["2026-03-29T03:00", 1],
      [null, 1],
    ],
  },
  {
    title: "a range from an hour that does not exist",
    query: { metrics: ["users"], where: [{ field: "time", from: "2026-03-29T02:30" }] },
    rows: [[1]],
  },
  {
    title: "ISO weeks at year ends",
    query: { metrics: ["events"], by: ["event.utc.week"], where: between("2024-12-01", "2025-02-01", "event.utc") },
    rows: [
      ["2024-12-23", 1],
      ["2024-12-30", 1],
    ],
  },
  {
    title: "a week in Berlin begins an hour earlier",
    query: { metrics: ["events"], by: ["time.week"], where: between("2026-01-01", "2026-02-01") },
    rows: [["2026-01-05", 1]],
  },
  {
    title: "weeks of days across a year",
    query: { metrics: ["amount"], by: ["time.week"], where: between("2020-12-01", "2021-02-01") },
    rows: [
      ["2020-12-28", 1024 + 2048],
      ["2021-01-04", 4096],
    ],
  },
  {
    title: "a conversion of users",
    query: { metrics: ["conversion"], by: ["user.country"] },
    sql: ({ div }) =>
      `select u.country, ${div("count(distinct case when e.name = 'buy' then e.user_id end)", "count(distinct case when e.name = 'view' then e.user_id end)")} from @events e left join @users u on u.id = e.user_id where e.name in ('buy', 'view') group by u.country`,
  },
  {
    title: "buyers per user, by country",
    query: { metrics: ["buy_rate"], by: ["user.country"] },
    sql: ({ div }) =>
      `select k.c, ${div("(select count(distinct e.user_id) from @events e left join @users u on u.id = e.user_id where e.name = 'buy' and coalesce(u.country, '-') = k.k)", "(select count(*) from @users u where coalesce(u.country, '-') = k.k)")} from (select 'DE' c, 'DE' k union all select 'US', 'US' union all select null, '-') k`,
  },
  {
    title: "users who bought after they viewed: two rows may fulfil two segments only together",
    query: {
      metrics: ["users"],
      segments: ["event.bought"],
      where: [{ field: "event.name", op: "=", value: "view" }],
    },
    rows: [[0]],
  },
  {
    title: "letters beyond ASCII fold on every database",
    query: { metrics: ["emails", "users"], by: ["user.folded"] },
    rows: [
      ["änne@x", 1, 2],
      ["bob@x", 1, 1],
      ["straße@x", 1, 1],
      [null, 0, 1],
    ],
  },
  {
    title: "a filter by folded letters",
    query: { metrics: ["users"], where: [{ field: "user.folded", op: "=", value: "änne@x" }] },
    rows: [[2]],
  },
  {
    title: "upper case letters beyond ASCII",
    query: { metrics: ["users"], where: [{ field: "user.shouted", op: "starts_with", value: "ÄNN" }] },
    rows: [[2]],
  },
  {
    title: "today, and the week before it",
    query: { metrics: ["amount"], by: ["time.day"], where: [{ field: "time", range: "today" }] },
    rows: [["2026-03-15", 256]],
  },
  {
    title: "yesterday",
    query: { metrics: ["amount"], where: [{ field: "time", range: "yesterday" }] },
    rows: [[128]],
  },
  {
    title: "last month is February",
    query: { metrics: ["amount"], where: [{ field: "time", range: "last_month" }] },
    rows: [[512]],
  },
  {
    title: "the last two months are whole",
    query: { metrics: ["amount"], where: [{ field: "time", last: { count: 2, unit: "month" } }] },
    rows: [[512]],
  },
  {
    title: "this week begins on Monday",
    query: { metrics: ["amount"], where: [{ field: "time", range: "this_week" }] },
    rows: [[384]],
  },
  {
    title: "empty days are filled",
    query: { metrics: ["amount"], by: ["time.day"], where: between("2026-03-13", "2026-03-17"), fill: true },
    rows: [
      ["2026-03-13", null],
      ["2026-03-14", 128],
      ["2026-03-15", 256],
      ["2026-03-16", null],
    ],
  },
  {
    title: "empty periods of a named month",
    query: {
      metrics: ["events"],
      by: ["time.week", "event.name"],
      where: between("2024-12-23", "2025-01-06"),
      fill: true,
    },
    rows: [
      ["2024-12-23", "view", 1],
      ["2024-12-30", "view", 1],
    ],
  },
  {
    title: "empty years of a second dimension",
    query: {
      metrics: ["events"],
      by: ["time.year", "event.name"],
      where: between("2024-01-01", "2026-01-01"),
      fill: true,
    },
    rows: [
      ["2024-01-01", "view", 2],
      ["2024-01-01", "buy", 2],
      ["2024-01-01", "cart", 0],
      ["2025-01-01", "view", 3],
      ["2025-01-01", "cart", 1],
      ["2025-01-01", "buy", 3],
    ],
  },
  {
    title: "year to date in Berlin",
    query: { metrics: ["value_ytd"], by: ["time.month"], where: between("2025-10-01", "2025-11-01") },
    rows: [["2025-10-01", 2048 + 63]],
  },
  {
    title: "a value of a period",
    query: { metrics: ["events"], where: [{ field: "time.month", op: "=", value: "2025-10" }] },
    rows: [[6]],
  },
  {
    title: "periods in a list",
    query: {
      metrics: ["amount"],
      by: ["time.year"],
      where: [{ field: "time.year", op: "in", values: ["2024", "2026"] }],
    },
    rows: [
      ["2024-01-01", 3],
      ["2026-01-01", 896],
    ],
  },
  {
    title: "the last day as a value",
    query: { metrics: ["last_day"], by: ["time.year"], where: [{ field: "time", from: "2024-01-01" }] },
    sql: ({ year, day }) =>
      `select ${year("day")}, ${day("max(day)")} from @days where day >= '2024-01-01' group by ${year("day")}`,
  },
  {
    title: "an hour of a day that has no hours",
    query: { metrics: ["amount"], by: ["time.hour"] },
    refused: "unsafe",
  },
  {
    title: "everything before a day, by quarter",
    query: { metrics: ["amount"], by: ["time.quarter"], where: [{ field: "time", until: "2025-03-31" }] },
    sql: ({ quarter }) =>
      `select ${quarter("day")}, sum(amount) from @days where day < '2025-03-31' group by ${quarter("day")}`,
  },
];
