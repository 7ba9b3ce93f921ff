import { FIGURES, HABITS, LIMITS } from "./figures.ts";
import { needsOf, type Needs } from "./needs.ts";

const STEPS = [1_000, 100_000, 10_000_000];

/** `npm run bench scale`: what fleets of three sizes need, as docs/scale.md shows it. */
export async function run(): Promise<void> {
  console.log(scaleTable());
}

export function scaleTable(): string {
  const needs = STEPS.map((sessions) => needsOf(sessions, FIGURES, HABITS, LIMITS));
  const row = (what: string, of: (needs: Needs) => string): string => `| ${what} | ${needs.map(of).join(" | ")} |`;
  return [
    row("sessions a day", (each) => count(each.sessionsPerDay)),
    "| --- | --- | --- | --- |",
    row("turns a day", (each) => count(each.turnsPerDay)),
    row("turns begun per second at the peak", (each) => amount(each.peakTurnsPerSecond)),
    row("turns under way in the busiest hour, mean", (each) =>
      count((each.flow.running.mean / simulated(each)) * each.places),
    ),
    row("places that keep 99 of 100 waits under 1 s", (each) => count(each.places)),
    row("workers of 8 cores and 32 GB", (each) => count(each.workers)),
    row("open streams", (each) => count(each.streams)),
    row("servers", (each) => count(each.servers)),
    row("Postgres: transactions per second", (each) => count(each.transactionsPerSecond)),
    row("Postgres: WAL, MB per second", (each) => amount(each.walMbPerSecond)),
    row("Postgres: notifications per second", (each) => count(each.notificationsPerSecond)),
    row("Postgres: connections without a pooler", (each) => count(each.connections)),
    row("stored a day, GB", (each) => amount(each.storedGbPerDay)),
    row("stored in 30 days, GB", (each) => amount(each.storedGb)),
    row("the nearest limit of one Postgres", (each) => {
      const [first] = each.pressures;
      return `${first!.what}, ${percent(first!.share)}`;
    }),
    row("fleets beside each other", (each) => count(each.cells)),
  ].join("\n");
}

/** The places of the part that was simulated. */
const simulated = ({ flow }: Needs): number => (flow.busy > 0 ? flow.running.mean / flow.busy : 1);
const count = (value: number): string => Math.ceil(value).toLocaleString("en");
const amount = (value: number): string => (value < 10 ? value.toFixed(value < 0.1 ? 3 : 2) : count(value));
const percent = (share: number): string => (share < 0.01 ? "under 1 %" : `${count(share * 100)} %`);
