import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CrashTestReport, ORDER_KINDS, type OrderKind, renderText, runCrashTest } from "@tandem/crash-test";
import { duration } from "@tandem/protocol";
import { buildPackage } from "../build-package.ts";
import { MOST_LEASES } from "./faults/fault-settings.ts";
import { labFaults } from "./faults/lab-faults.ts";
import { LabLinks, whyNoDelay } from "./faults/lab-links.ts";
import { addressOf, WORKERS } from "./lab-machines.ts";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-settings.ts";
import { quantile } from "./quantile.ts";
import type { TakeoverTimes, WatchedCounts } from "./watch/process-sightings.ts";
import { SessionWatch } from "./watch/session-watch.ts";
import { watchViolations } from "./watch/watch-violations.ts";

export interface LabOptions {
  faults: string;
  only?: string | undefined;
  work?: string | undefined;
  checks: string;
  figures: boolean;
  seed: string;
  takeover: string;
  pgbouncer: boolean;
  json: boolean;
  logs: boolean;
}

/** Inside node_modules, to find libraries. */
const BUILT = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "tandem", "package");

/** Runs in the machine `client`. Returns the exit code. */
export async function runLab(network: LabNetwork, options: LabOptions): Promise<number> {
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());
  // The process outside, which removes the lab, was killed.
  process.once("disconnect", () => stopping.abort());
  if (process.env["TANDEM_TEST_COMMAND"] === undefined) {
    console.error("Building the package …");
    await buildPackage(BUILT);
    process.env["TANDEM_TEST_COMMAND"] = join(BUILT, "bin", "tandem.mjs");
  }
  try {
    const settings = settingsOf(options);
    // Loaded here, because they read the variable above.
    const { measureLab } = await import("./measure-lab.ts");
    const { runChecks } = await import("./run-checks.ts");
    const figures = options.figures ? await measureLab(network, signal, settings) : undefined;
    const pattern = new RegExp(options.checks);
    const hasChecks = options.checks !== "none" && !options.figures;
    const checks = hasChecks ? await runChecks(network, settings, { signal, pattern }) : [];
    const report =
      Number(options.faults) > 0 && !options.figures ? await injectFaults(network, options, signal) : undefined;
    if (options.json) console.log(JSON.stringify({ figures, checks, report }, null, 2));
    else if (figures) console.log(JSON.stringify(figures, null, 2));
    if (report && !options.json) {
      const own = [describeWatch(report.watched), describeTakeovers(report.takeovers)];
      console.log([...renderText(report), ...own].join("\n"));
    }
    if (options.logs) printLogs(report);
    const isBroken = checks.some(({ failure }) => failure !== undefined) || (report?.violations.length ?? 0) > 0;
    return isBroken ? 1 : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    return 130;
  } finally {
    if (process.connected) process.disconnect();
  }
}

const settingsOf = ({ takeover, pgbouncer }: LabOptions): LabSettings => ({
  takeover,
  leaseMs: duration.parse(takeover),
  workers: WORKERS.length,
  hasPgBouncer: pgbouncer,
});

interface LabReport extends CrashTestReport {
  /** After each death of a worker. */
  takeovers: TakeoverTimes;
  watched: WatchedCounts;
}

async function injectFaults(network: LabNetwork, options: LabOptions, signal: AbortSignal): Promise<LabReport> {
  const { createLab } = await import("./lab-system.ts");
  await using parts = new AsyncDisposableStack();
  using watch = new SessionWatch(tmpdir());
  const { leaseMs } = settingsOf(options);
  const report = await runCrashTest({
    name: "Tandem, a fleet on several machines",
    createSystem: async (stage) => {
      const lab = await createLab(network, stage, parts, settingsOf(options));
      const extraFaults = labFaults({
        lab,
        network,
        links: new LabLinks(network),
        leaseMs,
        noDelay: await whyNoDelay(),
      });
      return { ...lab.plan, extraFaults };
    },
    faults: Number(options.faults),
    seed: Number(options.seed),
    longestFaultMs: MOST_LEASES * leaseMs,
    address: addressOf("client"),
    ...(options.only !== undefined && { only: options.only.split(",") }),
    ...(options.work !== undefined && { work: workOf(options.work) }),
    signal,
    onProgress: ({ done, total, violations, last }) => {
      console.error(`${done} of ${total} faults, ${violations} violations (${last})`);
    },
  });
  const { sightings } = watch;
  const { conversations } = report;
  report.violations.push(...watchViolations(sightings, conversations, report.faults));
  const deaths = report.faults.filter(({ kind }) => DEATHS.has(kind)).map(({ at }) => at);
  return {
    ...report,
    takeovers: sightings.takeoversAfter(deaths, conversations),
    watched: sightings.count(conversations),
  };
}

/** Faults that end a worker without a word. */
const DEATHS = new Set(["kill-worker", "crash-machine"]);

const workOf = (names: string): OrderKind[] =>
  ORDER_KINDS.filter((kind) => names.split(",").some((name) => name === kind));

function describeWatch({ processes, sessions, silent, successors, moves, overlaps }: WatchedCounts): string {
  const own = `${processes - silent} of ${sessions} sessions, and ${silent} that asked the model nothing`;
  const { count, longestMs } = overlaps;
  return [
    `${processes} Claude Code processes watched: ${own}. ${successors} followed another of their session, ${moves} of them on another machine`,
    `${count} pairs of processes of one session at the same time, stopped ones included: ${(longestMs / 1_000).toFixed(1)} s at most`,
  ].join("\n");
}

function describeTakeovers({ moved, stayed }: TakeoverTimes): string {
  const seconds = (times: readonly number[], share: number): string => (quantile(times, share) / 1_000).toFixed(1);
  const line = (times: readonly number[], where: string): string =>
    `${times.length} sessions ran again ${where}: p50 ${seconds(times, 0.5)} s, p95 ${seconds(times, 0.95)} s, most ${seconds(times, 1)} s`;
  return [line(moved, "on another machine"), line(stayed, "on their own machine after its restart")].join("\n");
}

function printLogs(report: CrashTestReport | undefined): void {
  for (const { message, log = [] } of report?.violations ?? []) console.log([message, ...log].join("\n    "));
}
