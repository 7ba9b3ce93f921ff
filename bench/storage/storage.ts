import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { openStore, type Lease, type Store } from "@tandem/storage";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { append, newSessions, small } from "./load.ts";
import { snapshotBytes } from "./snapshots.ts";
import { realisticTurn } from "./turn.ts";

const TURNS = 500;
const APPENDS = 3_000;
const SESSIONS = 20;
const LONG_LOG = 10_000;
const PACE = { perSecond: 2_000, seconds: 5, everyMs: 10 };

type Row = [what: string, value: string];

/** Bytes per turn, appends, reads and the event loop, on both engines. `--quick` does a fifth of it. */
export async function run(args: string[]): Promise<void> {
  const scale = args.includes("--quick") ? 5 : 1;
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-"));
  const columns: [engine: string, Row[]][] = [];
  try {
    let count = 0;
    const file = (): Promise<string> => Promise.resolve(join(folder, `${(count += 1)}.db`));
    columns.push(["SQLite", await measure(file, scale)]);
    const missing = whyNoPostgres();
    if (missing) console.error(`No Postgres: ${missing}.`);
    else {
      await using postgres = await startPostgres();
      columns.push(["Postgres", await measure(() => postgres.createDatabase(), scale)]);
    }
    print(columns);
    const turns = Array.from({ length: TURNS / scale }, (_, number) => realisticTurn(number));
    const plain = turns.flat().reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)), 0);
    const snapshots = snapshotBytes(join(folder, "snapshots.db"), turns);
    console.log(
      `\nThe same ${turns.length} turns as bare JSON: ${perTurn(plain, turns)} per turn. ` +
        `As rows that each hold the whole turn so far, in SQLite: ${perTurn(snapshots, turns)} per turn.`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const perTurn = (bytes: number, turns: readonly unknown[]): string => `${(bytes / turns.length / 1_000).toFixed(1)} kB`;

async function measure(location: () => Promise<string>, scale: number): Promise<Row[]> {
  const rows: Row[] = [];
  const add = (what: string, value: string): void => {
    console.error(`${what}: ${value}`);
    rows.push([what, value]);
  };
  const before = process.memoryUsage.rss();
  const place = await location();
  const opening = performance.now();
  await using store = await openStore(place);
  add("open an empty database, ms", (performance.now() - opening).toFixed(0));
  add("memory of an open store, MB", ((process.memoryUsage.rss() - before) / 1e6).toFixed(0));
  add("bytes on disk per turn of 12 events", await bytesPerTurn(await location(), TURNS / scale));
  add("appends/s of 1 event, one after the other", await appendsPerSecond(store, 1, APPENDS / scale));
  add(
    `appends/s of 1 event, ${SESSIONS} sessions at once`,
    await appendsPerSecond(store, SESSIONS, (APPENDS * 4) / scale),
  );
  add(`events/s in batches of 12, ${SESSIONS} sessions at once`, await eventsPerSecond(store, APPENDS / scale));
  for (const [what, values] of await pageReads(store, 200 / scale)) add(what, values);
  for (const [what, values] of await loopDelay(store, PACE.seconds / (scale === 1 ? 1 : 2))) add(what, values);
  return rows;
}

/** On disk after closing: what is still to be tidied up counts neither for nor against. */
async function bytesPerTurn(location: string, turns: number): Promise<string> {
  const bytes = async (): Promise<number> => {
    await using store = await openStore(location);
    return (await store.describe()).bytes;
  };
  const start = await bytes();
  {
    await using store = await openStore(location);
    const [lease] = await newSessions(store, 1);
    for (let number = 0; number < turns; number += 1) {
      // As a turn goes: some events at a time.
      const events = realisticTurn(number);
      for (let from = 0; from < events.length; from += 3) await append(store, lease!, events.slice(from, from + 3));
      await store.events.append(lease!, [], { session: { status: "idle", activeMs: number } });
    }
  }
  return `${(((await bytes()) - start) / turns / 1_000).toFixed(1)} kB`;
}

async function appendsPerSecond(store: Store, sessionCount: number, appends: number): Promise<string> {
  const leases = await newSessions(store, sessionCount);
  return perSecond(appends, () => inTurns(leases, appends, (lease) => append(store, lease, [small()])));
}

async function eventsPerSecond(store: Store, appends: number): Promise<string> {
  const leases = await newSessions(store, SESSIONS);
  return perSecond(appends * 12, () => inTurns(leases, appends, (lease) => append(store, lease, realisticTurn(1))));
}

async function pageReads(store: Store, reads: number): Promise<Row[]> {
  const [lease] = await newSessions(store, 1);
  for (let count = 0; count < LONG_LOG; count += 120) {
    await append(store, lease!, Array.from({ length: 10 }, (_, index) => realisticTurn(count + index)).flat());
  }
  const session = lease!.session;
  const time = async (range: Parameters<Store["events"]["read"]>[1]): Promise<string> => {
    const times: number[] = [];
    for (let count = 0; count < reads; count += 1) {
      const begun = performance.now();
      await store.events.read(session, range);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    return `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}`;
  };
  return [
    ["first 50 of 10,000 events, ms p50 / p99", await time({ limit: 50 })],
    ["last 50 of 10,000 events, ms p50 / p99", await time({ limit: 50, order: "desc" })],
    ["1,000 from the middle, ms p50 / p99", await time({ after: 5_000, limit: 1_000 })],
  ];
}

/** Appends at a steady pace, with a follower, while the event loop is watched. */
async function loopDelay(store: Store, seconds: number): Promise<Row[]> {
  const leases = await newSessions(store, SESSIONS);
  const stop = new AbortController();
  let followed = 0;
  const following = (async () => {
    for await (const batch of store.events.follow(leases[0]!.session, 0, stop.signal)) followed += batch.length;
  })();
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  const pending = new Set<Promise<unknown>>();
  const latencies: number[] = [];
  let sent = 0;
  const begun = performance.now();
  histogram.enable();
  while (performance.now() - begun < seconds * 1_000) {
    const due = Math.floor(((performance.now() - begun) / 1_000) * PACE.perSecond);
    for (; sent < due; sent += 1) {
      const asked = performance.now();
      const one = append(store, leases[sent % SESSIONS]!, [small()])
        .then(() => latencies.push(performance.now() - asked))
        .finally(() => pending.delete(one));
      pending.add(one);
    }
    await delay(PACE.everyMs);
  }
  await Promise.all(pending);
  histogram.disable();
  const rate = sent / ((performance.now() - begun) / 1_000);
  stop.abort();
  await following;
  latencies.sort((a, b) => a - b);
  const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(1);
  return [
    [`appends/s reached of ${PACE.perSecond.toLocaleString("en")} asked for`, rate.toFixed(0)],
    [
      "… an append takes, ms p50 / p99",
      `${quantile(latencies, 0.5).toFixed(1)} / ${quantile(latencies, 0.99).toFixed(1)}`,
    ],
    [
      "… event loop delay, ms p50 / p99 / max",
      `${ms(histogram.percentile(50))} / ${ms(histogram.percentile(99))} / ${ms(histogram.max)}`,
    ],
    ["… events followed live", `${followed}`],
  ];
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Each session one after the other, the sessions at the same time. */
async function inTurns(
  leases: readonly Lease[],
  count: number,
  call: (lease: Lease) => Promise<unknown>,
): Promise<void> {
  let left = count;
  const one = async (lease: Lease): Promise<void> => {
    for (; left > 0; left -= 1) await call(lease);
  };
  await Promise.all(leases.map(one));
}

async function perSecond(count: number, work: () => Promise<void>): Promise<string> {
  const begun = performance.now();
  await work();
  return Math.round(count / ((performance.now() - begun) / 1_000)).toLocaleString("en");
}

function print(columns: readonly [engine: string, Row[]][]): void {
  console.log(
    `${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}\n`,
  );
  console.log(`| | ${columns.map(([engine]) => engine).join(" | ")} |`);
  console.log(`|---|${columns.map(() => "---|").join("")}`);
  for (const [index, [what]] of columns[0]![1].entries()) {
    console.log(`| ${what} | ${columns.map(([, rows]) => rows[index]![1]).join(" | ")} |`);
  }
}
