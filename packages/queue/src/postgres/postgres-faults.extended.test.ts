import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { queryPostgres, startPostgres, whyNoPostgres, type TestPostgres } from "@tandem/storage/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { ManualWorker, runOf } from "../contract/queue-stage.ts";
import type { RunQueue } from "../run-queue.ts";
import { slowLink } from "../testing/slow-link.ts";
import { openPostgresQueue } from "./open-postgres-queue.ts";

const WORKER = fileURLToPath(new URL("../testing/worker-process.ts", import.meta.url));

/** Behaviours of a durable queue. */
describe.skipIf(whyNoPostgres())("the Postgres queue under faults", () => {
  let postgres: TestPostgres;
  const stack = new AsyncDisposableStack();
  let parts = new AsyncDisposableStack();
  const open = async (url: string, onTrouble?: (error: Error) => void): Promise<RunQueue> =>
    parts.use(await openPostgresQueue(url, { onTrouble }));

  beforeAll(async () => {
    postgres = stack.use(await startPostgres());
  });
  afterEach(async () => {
    await parts.disposeAsync();
    parts = new AsyncDisposableStack();
  });
  afterAll(() => stack.disposeAsync());

  const startWorker = (url: string, ...args: string[]): { child: ChildProcess; said: string[] } => {
    const child = spawn(process.execPath, [WORKER, url, ...args], {
      env: { PATH: "" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    parts.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    const said: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
    return { child, said };
  };

  test("sent runs survive the exit of all processes", async () => {
    const url = await postgres.createDatabase();
    const first = await openPostgresQueue(url);
    await first.send(runOf("a"));
    await first[Symbol.asyncDispose]();
    const hand = new ManualWorker(await open(url));
    await hand.begins("a");
    expect(hand.underWay).toEqual(["a"]);
  });

  test("the run of a worker killed with -9 is taken by another within 15 s", async () => {
    const url = await postgres.createDatabase();
    const queue = await open(url);
    await queue.send(runOf("a"));
    const { child, said } = startWorker(url);
    await expect.poll(() => said).toEqual(["begun a"]);
    const hand = new ManualWorker(queue);
    const killedAt = Date.now();
    child.kill("SIGKILL");
    await hand.begins("a");
    expect(Date.now() - killedAt).toBeLessThan(15_000 * inject("slowness"));

    hand.end("a");
    await expect.poll(() => queue.depth()).toEqual([]);
  });

  test("a worker's own timeout counts, and five deaths in a row do not slow the sixth takeover", async () => {
    const url = await postgres.createDatabase();
    const queue = await open(url);
    await queue.send(runOf("a"));
    const silentMs = 1_000 * inject("slowness");
    for (let death = 1; death <= 5; death += 1) {
      const { child, said } = startWorker(url, String(silentMs));
      await expect.poll(() => said).toEqual(["begun a"]);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const killedAt = Date.now();
    const hand = new ManualWorker(queue);
    await hand.begins("a");
    // Up to two seconds until the next search; the default timeout would be ten seconds.
    expect(Date.now() - killedAt).toBeLessThan(6_000 * inject("slowness"));
  });

  test("a worker whose link to Postgres is slow does not delay the others", async () => {
    const url = await postgres.createDatabase();
    await using link = await slowLink(url, 1_500);
    const queue = await open(url);
    const troubles: Error[] = [];
    const slowHand = new ManualWorker(await open(link.url, (error) => troubles.push(error)), ["any"], 100);
    await queue.send(runOf("first"));
    await slowHand.begins("first");
    const hand = new ManualWorker(queue, ["any"], 100);
    const lags: number[] = [];
    // Long enough for the slow worker to look and to take several times.
    for (const until = Date.now() + 12_000; Date.now() < until; await delay(200)) {
      const key = `run ${lags.length}`;
      const sentAt = Date.now();
      await queue.send(runOf(key));
      await expect.poll(() => [...hand.keys, ...slowHand.keys], { interval: 5 }).toContain(key);
      lags.push(slowHand.keys.includes(key) ? 0 : Date.now() - sentAt);
    }
    expect(Math.max(...lags)).toBeLessThan(1_500 * inject("slowness"));
    expect(slowHand.signal("first").aborted).toBe(false);
    expect(troubles).toEqual([]);
  });

  test("a suspended worker loses its run, is notified, and cannot end it any more", async () => {
    const url = await postgres.createDatabase();
    const queue = await open(url);
    await queue.send(runOf("a"));
    const { child, said } = startWorker(url);
    await expect.poll(() => said).toEqual(["begun a"]);
    child.kill("SIGSTOP");
    const hand = new ManualWorker(queue);
    await hand.begins("a");
    child.kill("SIGCONT");
    await expect.poll(() => said).toEqual(["begun a", "lost a"]);
    expect(hand.signal("a").aborted).toBe(false);
    expect(await queue.depth()).toMatchObject([{ waiting: 0, running: 1 }]);
  });

  test("everything waits while Postgres is down, and continues afterwards", async () => {
    const url = await postgres.createDatabase();
    const troubles: Error[] = [];
    const [queue, other] = await Promise.all([open(url, (error) => troubles.push(error)), open(url)]);
    const hand = new ManualWorker(queue);
    await queue.send(runOf("long"));
    await queue.send(runOf("ends meanwhile"));
    await hand.begins("ends meanwhile", "long");
    const rival = new ManualWorker(other);

    await postgres.kill();
    const sent = other.send(runOf("sent meanwhile"));
    hand.end("ends meanwhile");
    // Longer than the heartbeat timeout.
    await delay(12_000);
    await postgres.start();

    await sent;
    await expect
      .poll(() => [...hand.keys, ...rival.keys].toSorted())
      .toEqual(["ends meanwhile", "long", "sent meanwhile"]);
    await expect.poll(() => other.depth()).toMatchObject([{ waiting: 0, running: 2 }]);
    expect(hand.signal("long").aborted).toBe(false);
    expect(troubles.length).toBeGreaterThan(0);
    hand.end("long");
    await expect.poll(() => other.depth()).toMatchObject([{ waiting: 0, running: 1 }]);
    // Notifications work again too.
    await expect
      .poll(async () => {
        const key = `notified ${Date.now()}`;
        const sentAt = Date.now();
        await other.send(runOf(key));
        await expect.poll(() => [...hand.keys, ...rival.keys], { interval: 5 }).toContain(key);
        return Date.now() - sentAt;
      })
      .toBeLessThan(500 * inject("slowness"));
  });

  test("many processes opening at once share one queue and its limits", async () => {
    const url = await postgres.createDatabase();
    const queues = await Promise.all(
      [1, 2, 3, 4].map(async () => parts.use(await openPostgresQueue(url, { limitOf: () => 3 }))),
    );
    const busy = new Set<string>();
    let [most, overlaps, runs] = [0, 0, 0];
    // On a busy machine, runs could otherwise end before the next ones are taken.
    const full = Promise.withResolvers<void>();
    for (const queue of queues) {
      queue.work(
        ["any"],
        () => 5,
        async ({ key }) => {
          if (busy.has(key)) overlaps += 1;
          busy.add(key);
          most = Math.max(most, busy.size);
          if (most === 3) full.resolve();
          await full.promise;
          await delay(60);
          busy.delete(key);
          runs += 1;
        },
      );
    }
    await Promise.all(Array.from({ length: 60 }, (_, index) => queues[index % 4]!.send(runOf(`s${index % 30}`))));
    await expect.poll(() => queues[0]!.depth()).toEqual([]);
    expect(runs).toBeGreaterThanOrEqual(30);
    expect([most, overlaps]).toEqual([3, 0]);
  });

  test("opens the table of an earlier build", async () => {
    const url = await postgres.createDatabase();
    await (await openPostgresQueue(url))[Symbol.asyncDispose]();
    await queryPostgres(url, "alter table tandem_queue.run drop column losses");
    const queue = await open(url);
    await queue.send(runOf("a"));
    await new ManualWorker(queue).begins("a");
    expect(await queue.dead()).toEqual([]);
  });

  test("a role without the right to create the schema learns what an owner must do, and then works", async () => {
    const url = await postgres.createDatabase();
    await queryPostgres(url, "create role clerk login");
    const clerk = url.replace("postgres@", "clerk@");
    const refusal = await openPostgresQueue(clerk).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "queue_not_allowed", message: expect.stringContaining("tandem_queue") });
    expect(refusal).toMatchObject({ fix: expect.stringContaining("CREATE SCHEMA tandem_queue AUTHORIZATION") });

    await queryPostgres(url, "create schema tandem_queue authorization clerk");
    const queue = await open(clerk);
    await queue.send(runOf("a"));
    await new ManualWorker(queue).begins("a");
  });
});
