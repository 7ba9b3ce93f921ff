import { between, type Scenario } from "./scenario.ts";

/** Earlier values and running totals of days. */
export const EARLIER_SCENARIOS: readonly Scenario[] = [
  {
    title: "day by day against the year before",
    query: { metrics: ["over_year", "amount"], by: ["time.day"], where: between("2025-01-01", "2025-04-01") },
    rows: [
      ["2025-01-31", 16, 16],
      ["2025-02-28", 4 - 1, 4],
      ["2025-03-01", 8, 8],
      ["2025-03-30", 64, 64],
      ["2025-03-31", 32, 32],
    ],
  },
  {
    title: "day by day against the month before: 30 and 31 March look at 28 February",
    query: { metrics: ["over_month"], by: ["time.day"], where: between("2025-03-01", "2025-04-01") },
    rows: [
      ["2025-03-01", 8],
      ["2025-03-30", 64 - 4],
      ["2025-03-31", 32 - 4],
    ],
  },
  {
    title: "an earlier value alone stays within the range",
    query: { metrics: ["year_ago"], by: ["time.day"], where: between("2025-02-01", "2025-03-01") },
    rows: [["2025-02-28", 1]],
  },
  {
    title: "an earlier value in a leap year",
    query: { metrics: ["year_ago"], by: ["time.month"], where: between("2025-02-01", "2025-03-01") },
    rows: [["2025-02-01", 3]],
  },
  {
    title: "year over year by month",
    query: { metrics: ["over_year"], by: ["time.month"], where: between("2025-01-01", "2026-04-01") },
    rows: [
      ["2025-01-01", 16],
      ["2025-02-01", 4 - 3],
      ["2025-03-01", 8 + 32 + 64],
      ["2026-02-01", 512 - 4],
      ["2026-03-01", 384 - 104],
    ],
  },
  {
    title: "week over week by day",
    query: { metrics: ["over_week"], by: ["time.week"], where: between("2021-01-04", "2021-01-11") },
    rows: [["2021-01-04", 4096 - 3072]],
  },
  {
    title: "quarter over quarter",
    query: { metrics: ["over_quarter"], by: ["time.quarter"], where: between("2021-01-01", "2021-04-01") },
    rows: [["2021-01-01", 4096 + 2048 - 1024]],
  },
  {
    title: "weeks do not repeat after a year",
    query: { metrics: ["over_year"], by: ["time.week"] },
    refused: "unsafe",
  },
  {
    title: "week to date by day",
    query: { metrics: ["week_to_date"], by: ["time.day"], where: between("2021-01-02", "2021-01-06") },
    rows: [
      ["2021-01-02", 1024],
      ["2021-01-03", 3072],
      ["2021-01-04", 4096],
      ["2021-01-05", 4096],
    ],
  },
  {
    title: "quarter to date by month",
    query: { metrics: ["quarter_to_date"], by: ["time.month"], where: between("2025-01-01", "2025-05-01") },
    rows: [
      ["2025-01-01", 16],
      ["2025-02-01", 20],
      ["2025-03-01", 124],
    ],
  },
  {
    title: "three months, ending with the period",
    query: { metrics: ["three_months"], by: ["time.month"], where: between("2025-03-01", "2025-07-01") },
    rows: [
      ["2025-03-01", 124],
      ["2025-04-01", 108],
      ["2025-05-01", 104],
    ],
  },
  {
    title: "seven days",
    query: { metrics: ["seven_days"], by: ["time.day"], where: between("2021-01-06", "2021-01-08") },
    rows: [
      ["2021-01-06", 3072 - 1024 + 4096 + 1024],
      ["2021-01-07", 2048 + 4096],
    ],
  },
  {
    title: "a running total by year and month",
    query: { metrics: ["running"], by: ["time.year", "time.month"], where: between("2024-12-01", "2025-03-01") },
    rows: [
      ["2024-01-01", "2024-12-01", 7171],
      ["2025-01-01", "2025-01-01", 7187],
      ["2025-01-01", "2025-02-01", 7191],
    ],
  },
  {
    title: "day by day against the year before, with the month beside it",
    query: { metrics: ["over_year"], by: ["time.month", "time.day"], where: between("2025-02-01", "2025-03-02") },
    rows: [
      ["2025-02-01", "2025-02-28", 3],
      ["2025-03-01", "2025-03-01", 8],
    ],
  },
  {
    title: "months and weeks of a running total",
    query: { metrics: ["running"], by: ["time.month", "time.week"] },
    refused: "unsafe",
  },
];
