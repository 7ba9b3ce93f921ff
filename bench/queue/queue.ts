import { setTimeout as delay } from "node:timers/promises";
import { createEmbeddedQueue, openPostgresQueue, type Run, type RunQueue } from "@tandem/queue";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { Client } from "pg";

const RUNS = 300;
const IDLE_SECONDS = 60;
const PLACES = Array.from({ length: 10 }, (_, index) => `machine:${index}`);
const TENANTS = 100;

type Row = [what: string, embedded: string, postgres: string];

/** Cost of a queued run and of waiting for one. `--quick` runs a fifth of it. */
export async function run(args: string[]): Promise<void> {
  const scale = args.includes("--quick") ? 5 : 1;
  const missing = whyNoPostgres();
  if (missing) throw new Error(`No Postgres: ${missing}.`);
  await using postgres = await startPostgres();
  const statements = countStatements();
  const open = async (): Promise<RunQueue> => openPostgresQueue(await postgres.createDatabase());
  const rows: Row[] = [];
  const add = (...row: Row): void => {
    console.error(row.join(" | "));
    rows.push(row);
  };

  add("a statement that does nothing, ms p50 / p95", "", spread(await nothing(await postgres.createDatabase())));
  const runs = RUNS / scale;
  const memory = await oneByOne(createEmbeddedQueue(), runs);
  const before = statements();
  const queue = await open();
  const opening = statements() - before;
  const durable = await oneByOne(queue, runs, statements);
  add("statements to open it", "0", `${opening}`);
  add("send, ms p50 / p95", spread(memory.send), spread(durable.send));
  add("sent until handled, ms p50 / p95", spread(memory.begin), spread(durable.begin));
  add("statements per run, send to end", "0", durable.statements.toFixed(1));

  add("a waiting run taken and ended, /s, one worker of 20", perSecond(await drain([createEmbeddedQueue()], runs)), "");
  rows.at(-1)![2] = perSecond(await drain([await open()], runs));
  const url = await postgres.createDatabase();
  const four = [];
  for (let count = 0; count < 4; count += 1) four.push(await openPostgresQueue(url));
  add("the same, four workers of 20", "", perSecond(await drain(four, runs)));

  const seconds = IDLE_SECONDS / scale;
  add("idle, ten places: statements/s", "0", await idle(await open(), seconds, statements));
  add("ten runs under way, ten places: statements/s", "0", await idle(await open(), seconds, statements, 10));
  const wide = await open();
  for (const place of PLACES) {
    for (let tenant = 0; tenant < TENANTS / scale; tenant += 1)
      await wide.send(runOf(`${place}.${tenant}`, place, `t${tenant}`));
  }
  const started = performance.now();
  await drain([wide], 0);
  const each = (performance.now() - started) / ((PLACES.length * TENANTS) / scale);
  add(`a run of ${(PLACES.length * TENANTS) / scale} queues, each with one, ms`, "", each.toFixed(1));

  console.log("\n| | in memory | Postgres |\n|---|---|---|");
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}

const runOf = (key: string, place = PLACES[0]!, tenant = "default"): Run => ({
  kind: "session",
  key,
  tenant,
  place,
  priority: 0,
});

/** In this process, for all callers: the queue's pool and its listener are here. */
function countStatements(): () => number {
  let count = 0;
  const plain: unknown = Reflect.get(Client.prototype, "query");
  if (typeof plain !== "function") throw new Error("pg has changed.");
  Reflect.set(Client.prototype, "query", function counted(this: Client, ...args: unknown[]): unknown {
    count += 1;
    return Reflect.apply(plain, this, args);
  });
  return () => count;
}

/** Cost of an empty statement, as a baseline. */
async function nothing(url: string): Promise<number[]> {
  const client = new Client(url);
  await client.connect();
  const times: number[] = [];
  for (let index = 0; index < 200; index += 1) {
    const started = performance.now();
    await client.query("select 1");
    times.push(performance.now() - started);
  }
  await client.end();
  return times;
}

/** Each run is sent when the one before has ended. */
async function oneByOne(queue: RunQueue, count: number, statements: () => number = () => 0) {
  const send: number[] = [];
  const begin: number[] = [];
  let begun = (): void => {};
  const working = queue.work(
    PLACES,
    () => 20,
    async () => begun(),
  );
  await queue.send(runOf("first"));
  await settled(queue);
  const before = statements();
  for (let index = 0; index < count; index += 1) {
    const handled = new Promise<void>((resolve) => (begun = resolve));
    const started = performance.now();
    await queue.send(runOf(`s${index}`));
    send.push(performance.now() - started);
    await handled;
    begin.push(performance.now() - started);
    await delay(5);
  }
  const each = (statements() - before) / count;
  await working.stop(5_000);
  await queue[Symbol.asyncDispose]();
  return { send, begin, statements: each };
}

/** All wait already, and take no time. With a count of 0, what is there. */
async function drain(queues: RunQueue[], count: number): Promise<number> {
  for (let index = 0; index < count; index += 1) await queues[0]!.send(runOf(`d${index}`));
  const started = performance.now();
  for (const queue of queues)
    queue.work(
      PLACES,
      () => 20,
      async () => {},
    );
  await settled(queues[0]!);
  const seconds = (performance.now() - started) / 1_000;
  for (const queue of queues) await queue[Symbol.asyncDispose]();
  return count / seconds;
}

async function idle(queue: RunQueue, seconds: number, statements: () => number, runs = 0): Promise<string> {
  const end = new AbortController();
  const working = queue.work(
    PLACES,
    () => 20,
    () => new Promise((resolve) => end.signal.addEventListener("abort", () => resolve())),
  );
  for (let index = 0; index < runs; index += 1) await queue.send(runOf(`i${index}`, PLACES[index % PLACES.length]));
  await delay(2_000);
  const before = statements();
  await delay(seconds * 1_000);
  const rate = (statements() - before) / seconds;
  end.abort();
  await working.stop(5_000);
  await queue[Symbol.asyncDispose]();
  return rate.toFixed(2);
}

async function settled(queue: RunQueue): Promise<void> {
  while ((await queue.depth()).length > 0) await delay(10);
}

const perSecond = (value: number): string => value.toFixed(0);

function spread(values: number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor(sorted.length * share)]!.toFixed(2);
  return `${at(0.5)} / ${at(0.95)}`;
}
