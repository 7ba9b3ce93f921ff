import { openPostgresQueue, type Run } from "@tandem/queue";
import { startPostgres } from "@tandem/storage/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { Lags } from "../server/lags.ts";
import { count, ms, type Section } from "../server/report.ts";
import { costsBetween, costsSoFar, countStatements } from "./postgres-costs.ts";

const APART_MS = 50;
const ONE_BY_ONE = 200;
const AT_ONCE = 1_000;
const CAPACITY = 50;

/** The queue by itself: sent by one process, taken by another that has nothing else to do. */
export async function fleetQueue(): Promise<Section[]> {
  await using postgres = await startPostgres();
  const database = await postgres.createDatabase();
  await countStatements(postgres, database);
  await using sender = await openPostgresQueue(database);
  await using taker = await openPostgresQueue(database);
  const sentAt = new Map<string, number>();
  const lags = new Lags();
  const working = taker.work(
    ["any"],
    () => CAPACITY,
    async ({ key }) => {
      lags.add((performance.now() - sentAt.get(key)!) * 1_000);
    },
  );
  const send = async (key: string): Promise<void> => {
    const run: Run = { kind: "session", key, tenant: "default", place: "any", priority: 0 };
    sentAt.set(key, performance.now());
    await sender.send(run);
  };
  const all = async (wanted: number): Promise<void> => {
    const deadline = Date.now() + 120_000;
    while (lags.count < wanted) {
      if (Date.now() > deadline) throw new Error(`${lags.count} of ${wanted} runs were taken in time.`);
      await sleep(5);
    }
  };
  await send("warm-up");
  await all(1);
  await sleep(1_000);
  const idleFrom = await costsSoFar(database);
  await sleep(5_000);
  const idle = costsBetween(idleFrom, await costsSoFar(database));
  const before = { costs: await costsSoFar(database), at: performance.now() };
  for (let number = 0; number < ONE_BY_ONE; number += 1) {
    await send(`one-${number}`);
    await sleep(APART_MS);
  }
  await all(1 + ONE_BY_ONE);
  const seconds = (performance.now() - before.at) / 1_000;
  const costs = costsBetween(before.costs, await costsSoFar(database));
  const pickup = { p50: lags.quantile(0.5), p99: lags.quantile(0.99) };
  const perRun = (key: "transactions" | "statements" | "walBytes"): number =>
    (costs[key] - (idle[key] / 5) * seconds) / ONE_BY_ONE;
  const begun = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => send(`many-${number}`)));
  const sending = (performance.now() - begun) / 1_000;
  await all(1 + ONE_BY_ONE + AT_ONCE);
  const taking = (performance.now() - begun) / 1_000;
  await working.stop(5_000);
  return [
    {
      title: "queue, one run at a time",
      figures: [
        { what: "sent to begun, p50 / p99, ms", value: `${ms(pickup.p50)} / ${ms(pickup.p99)}` },
        {
          what: "transactions, statements of a run",
          value: `${perRun("transactions").toFixed(1)}, ${perRun("statements").toFixed(1)}`,
        },
        { what: "WAL of a run, kB", value: (perRun("walBytes") / 1_000).toFixed(1) },
        { what: "statements/s of two processes at rest", value: (idle.statements / 5).toFixed(1) },
      ],
    },
    {
      title: `queue, ${count(AT_ONCE)} runs at once, ${CAPACITY} under way`,
      figures: [
        { what: "sent/s", value: count(AT_ONCE / sending) },
        { what: "sent, begun and ended/s", value: count(AT_ONCE / taking) },
      ],
    },
  ];
}
