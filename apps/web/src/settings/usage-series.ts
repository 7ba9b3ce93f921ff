const DAY_MS = 86_400_000;
const DAYS = 30;
/** More groups than colours would be unreadable. */
const MOST = 5;

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export interface UsageSeries {
  labels: string[];
  series: { name: string; values: number[] }[];
  total: number;
}

/** One value per day and group, the most expensive group first. Small groups are summed up as "Other". */
export function usageSeries(
  rows: readonly { day: string; name: string; usd: number }[],
  now: Date,
  length = DAYS,
): UsageSeries {
  const days = Array.from({ length }, (_, index) =>
    new Date(now.getTime() - (length - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  const sums = [...Map.groupBy(rows, ({ name }) => name)]
    .map(([name, own]) => ({ name, own, usd: own.reduce((sum, { usd }) => sum + usd, 0) }))
    .filter(({ usd }) => usd > 0)
    .sort((a, b) => b.usd - a.usd);
  const rest = sums.slice(MOST);
  const shown = [
    ...sums.slice(0, MOST),
    ...(rest.length > 0 ? [{ name: "Other", own: rest.flatMap(({ own }) => own), usd: 0 }] : []),
  ];
  return {
    labels: days.map((name) => day.format(new Date(name))),
    series: shown.map(({ name, own }) => ({
      name,
      values: days.map((each) => own.reduce((sum, row) => (row.day === each ? sum + row.usd : sum), 0)),
    })),
    total: sums.reduce((sum, { usd }) => sum + usd, 0),
  };
}
