import { newId, sleep, type SessionId } from "@tandem/protocol";
import { LeaseLost, type Lease, type SessionRow } from "@tandem/storage";
import { expect, onTestFinished, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { DatabaseAway } from "./database-away.ts";
import { LeaseWatch } from "./lease-watch.ts";

const TTL = 10_000;
const WAIT = 40_000;
/** Shorter than the intervals of the watch: a longer step looks like a suspended process. */
const STEP = 200;

const kept: Lease[] = [];
const never = new Promise<never>(() => undefined);

/** A watch of one session. `renew` is the database's answer, `contested` that of the other workers: none by default. */
function setUp({ hasRivals = true } = {}) {
  const clock = new MovableClock();
  const session = newId("session");
  const states: string[] = [];
  const renewals: number[] = [];
  const questions: number[] = [];
  const start = clock.monotonic();
  const now = (): number => Math.round(clock.monotonic() - start);
  const stage = {
    clock,
    session,
    states,
    /** When renewals were sent, and other workers asked. */
    renewals,
    questions,
    lostWith: undefined as unknown,
    lostAt: NaN,
    renew: async (): Promise<Lease[]> => kept,
    contested: async (): Promise<ReadonlySet<SessionId>> => new Set(),
    /** Lets time pass as in a process that runs. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= STEP) {
        clock.advance(Math.min(left, STEP));
        // All timers that are due fire before this one.
        await sleep(clock, 0);
        await new Promise(setImmediate);
      }
    },
  };
  const actor = {
    lease: { session, token: 1 },
    row: { id: session } as SessionRow,
    gone: false,
    ended: never,
    pause: () => void states.push("paused"),
    unpause: () => void states.push("running"),
    lost: (error: unknown = new LeaseLost(session)) => {
      states.push("lost");
      Object.assign(stage, { lostWith: error, lostAt: now() });
    },
  };
  const renew = (): Promise<Lease[]> => {
    renewals.push(now());
    return stage.renew();
  };
  const findContested = (): Promise<ReadonlySet<SessionId>> => {
    questions.push(now());
    return stage.contested();
  };
  const watch = new LeaseWatch(
    { renew },
    {
      ttl: TTL,
      waitMs: WAIT,
      findContested: hasRivals ? findContested : undefined,
      log: { warn: () => undefined },
      clock,
    },
  );
  watch.add(actor, clock.monotonic());
  watch.start();
  onTestFinished(() => watch.stop());
  return stage;
}

const away = (): Promise<never> => Promise.reject(new Error("The database is away."));

test("a renewed session runs; a session whose lease was taken is lost at once", async () => {
  const stage = setUp();
  await stage.pass(3 * TTL);
  expect(stage).toMatchObject({ states: [], questions: [] });
  expect(stage.renewals.length).toBeGreaterThanOrEqual(11);
  stage.renew = async () => [{ session: stage.session, token: 1 }];
  await stage.pass(TTL / 4 + STEP);
  expect(stage.states).toEqual(["lost"]);
  const { length } = stage.renewals;
  await stage.pass(TTL);
  expect(stage.renewals).toHaveLength(length);
});

test("an answer that comes twenty seconds late does not wake the session, and the lease is renewed at once", async () => {
  const stage = setUp();
  const late = Promise.withResolvers<Lease[]>();
  stage.renew = () => late.promise;
  await stage.pass(20_000);
  expect(stage.states).toEqual(["paused"]);
  const before = stage.renewals.length;
  const second = Promise.withResolvers<Lease[]>();
  stage.renew = () => second.promise;
  late.resolve(kept);
  await expect.poll(() => stage.renewals.length).toBeGreaterThan(before);
  expect(stage.states).toEqual(["paused"]);
  // Another worker has taken the lease meanwhile.
  second.resolve([{ session: stage.session, token: 1 }]);
  await expect.poll(() => stage.states).toEqual(["paused", "lost"]);
});

test("a renewal without an answer is repeated on another connection, and a few of them at once at most", async () => {
  const stage = setUp();
  stage.renew = () => {
    stage.renew = async () => kept;
    return never;
  };
  await stage.pass(3 * TTL);
  expect(stage.states).toEqual([]);
  expect(stage.renewals[1]! - stage.renewals[0]!).toBeLessThan(TTL / 4);

  const dead = setUp();
  dead.renew = () => never;
  await dead.pass(2 * TTL);
  expect(dead.renewals).toHaveLength(4);
});

test("on a link on which every answer takes almost half of the lease, a session is paused only at first", async () => {
  const stage = setUp();
  stage.contested = async () => new Set([stage.session]);
  stage.renew = async () => {
    await sleep(stage.clock, 0.4 * TTL);
    return kept;
  };
  await stage.pass(2 * TTL);
  const { length } = stage.states;
  await stage.pass(4 * TTL);
  expect(stage.states.slice(length)).toEqual([]);
  expect(stage.states).not.toContain("lost");
});

test("a session that another worker can take over is ended before its lease expires, without the database", async () => {
  const stage = setUp();
  stage.renew = () => never;
  stage.contested = async () => new Set([stage.session]);
  await stage.pass(TTL);
  expect(stage.states).toEqual(["paused", "lost"]);
  expect(stage.lostAt).toBeGreaterThan(0.8 * TTL);
  expect(stage.lostAt).toBeLessThan(0.95 * TTL);
  expect(String(stage.lostWith)).toContain("another worker may take it over");
});

test.each([
  ["never answer", () => never],
  ["cannot be asked", away],
])("other workers that %s may take the session over", async (_, contested) => {
  const stage = setUp();
  stage.renew = away;
  stage.contested = contested;
  await stage.pass(TTL);
  expect(stage.states).toEqual(["paused", "lost"]);
  expect(stage.lostAt).toBeLessThan(0.95 * TTL);
});

test("a session that no other worker can take over stays paused, and continues once its lease was renewed", async () => {
  const stage = setUp();
  stage.renew = away;
  await stage.pass(3 * TTL);
  expect(stage.states).toEqual(["paused"]);
  stage.renew = async () => kept;
  await stage.pass(STEP * 4);
  expect(stage.states).toEqual(["paused", "running"]);
  stage.renew = away;
  await stage.pass(WAIT + TTL);
  expect(stage.states).toEqual(["paused", "running", "paused", "lost"]);
  expect(stage.lostWith).toBeInstanceOf(DatabaseAway);
});

test("the others are asked again before their promise ends: one that has the database again ends the session", async () => {
  const stage = setUp();
  stage.renew = away;
  await stage.pass(2 * TTL);
  expect(stage.states).toEqual(["paused"]);
  const promised = stage.questions.at(-1)!;
  stage.contested = async () => new Set([stage.session]);
  await stage.pass(TTL);
  expect(stage.states).toEqual(["paused", "lost"]);
  expect(stage.lostAt - promised).toBeLessThan(0.95 * TTL);
});

test("a process that was suspended gives its sessions up", async () => {
  const stage = setUp();
  await stage.pass(TTL / 4);
  stage.clock.advance(TTL / 2);
  await stage.pass(STEP);
  expect(stage.states).toEqual(["lost"]);
  expect(String(stage.lostWith)).toContain("suspended for too long");
});

test("without other workers, a session runs on while the database is away", async () => {
  const stage = setUp({ hasRivals: false });
  stage.renew = away;
  await stage.pass(2 * WAIT);
  expect(stage).toMatchObject({ states: [], questions: [] });
});
