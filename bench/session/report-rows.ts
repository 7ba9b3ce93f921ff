import { availableParallelism } from "node:os";
import { count, quantile } from "../server/report.ts";
import type { Measurement, Row } from "./measurement.ts";
import type { BareSample, Sample } from "./sample.ts";

export interface Measured {
  measurement: Measurement;
  samples: Readonly<Record<string, readonly Sample[]>>;
  /** One of every round. */
  bare: readonly BareSample[];
}

export interface Surroundings {
  command: string;
  /** As `tandem status` calls it. */
  sandbox: string;
  /** That other programs used meanwhile. */
  otherCores: number;
}

export function reportHead({ command, sandbox, otherCores }: Surroundings, measured: readonly Measured[]): void {
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
  const calls = measured.flatMap(({ bare }) => bare);
  console.log(`\`${command}\`: ${machine}, ${day}, sandbox ${sandbox}.`);
  console.log(`Other programs took ${Math.max(0, otherCores).toFixed(2)} cores.`);
  if (calls.length === 0) return;
  const whole = quantile(
    calls.map(({ wholeMs }) => wholeMs),
    0.5,
  );
  console.log(
    `A bare call: ${count(median(calls))} ms to its first message, ${count(whole)} ms in all, ${cpu(calls)} s of CPU.`,
  );
}

/** Ratios are to the bare calls of the same rounds. */
export function reportRows(measured: readonly Measured[]): void {
  if (measured.length === 0) return;
  console.log("\n| work | median | lowest to highest | × bare | CPU s | × bare | target | |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const { measurement, samples, bare } of measured) {
    for (const [key, row] of Object.entries(measurement.rows)) {
      const own = samples[key];
      if (own === undefined) continue;
      const values = own.map(({ value }) => value);
      const [lowest, highest] = [Math.min(...values), Math.max(...values)].map(show);
      const ratio = row.unit === "ms" ? (median(own) / median(bare)).toFixed(2) : "";
      const { wanted, isMet } = judge(row, median(own), median(bare), samples);
      console.log(
        `| ${row.what} | ${show(median(own))} ${row.unit} | ${lowest}–${highest} | ${ratio} | ${cpu(own)} | ${cpuRatio(own, bare)} | ${wanted} | ${isMet} |`,
      );
    }
  }
}

function judge(row: Row, value: number, bare: number, samples: Measured["samples"]): { wanted: string; isMet: string } {
  const { target } = row;
  if (target === undefined) return { wanted: "", isMet: "" };
  const verdict = (isMet: boolean): string => (isMet ? "met" : "**not met**");
  if ("atLeast" in target)
    return { wanted: `≥ ${target.atLeast} ${row.unit}`, isMet: verdict(value >= target.atLeast) };
  const { atMost } = target;
  if (target.of === "absolute") return { wanted: `≤ ${atMost} ${row.unit}`, isMet: verdict(value <= atMost) };
  if (target.of === "bare") return { wanted: `≤ ${atMost} × bare`, isMet: verdict(value / bare <= atMost) };
  const other = samples[target.row];
  const ratio = other === undefined ? Number.NaN : value / median(other);
  return { wanted: `≤ ${atMost} × the row above: ${ratio.toFixed(2)}`, isMet: verdict(ratio <= atMost) };
}

const median = (samples: readonly Sample[]): number =>
  quantile(
    samples.map(({ value }) => value),
    0.5,
  );

const cpu = (samples: readonly Sample[]): string => cpuSeconds(samples)?.toFixed(2) ?? "";

/** Says more than the ratio of times if other programs use the machine. */
function cpuRatio(own: readonly Sample[], bare: readonly Sample[]): string {
  const [ours, theirs] = [cpuSeconds(own), cpuSeconds(bare)];
  return ours === undefined || theirs === undefined ? "" : (ours / theirs).toFixed(2);
}

function cpuSeconds(samples: readonly Sample[]): number | undefined {
  const seconds = samples.flatMap((sample) => sample.cpuSeconds ?? []);
  return seconds.length === 0 ? undefined : quantile(seconds, 0.5);
}

const show = (value: number): string => (value < 10 ? value.toFixed(1) : count(value));
