import { join } from "node:path";
import type { LoggedEvent } from "@tandem/protocol";
import { always, madeUpLogin, planLimit, rateLimited, text, type Rehearsal, type Reply } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startPostgres, whyNoPostgres, type TestPostgres } from "@tandem/storage/testing";
import { MovableClock } from "../host/movable-clock.ts";
import { isIdle, setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

const why = whyNoPostgres();
describe.skipIf(why)(`quotas are known to all on an account${why ? ` (${why})` : ""}`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  /** Two workers on one Postgres and one fake login, which plan limits need. */
  async function setFleet() {
    const stage = await setEngineStage([], { proxy: true });
    onTestFinished(() => stage[Symbol.asyncDispose]());
    const location = await postgres.createDatabase();
    const configDir = join(stage.root, "home", ".claude");
    await madeUpLogin(configDir);
    const hostVariables = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(stage.root, "home"),
      TMPDIR: stage.root,
      ...stage.rehearsal.proxy.variables,
      NO_PROXY: "127.0.0.1",
    };
    const login = { hostVariables, credential: async () => ({ type: "login" as const, configDir }) };
    const key = {};
    const open = (settings: object, name: string) => stage.open({ location, holder: name, ...settings });
    return { stage, login, key, open };
  }
  const asked = ({ requests }: Rehearsal) =>
    requests.filter(({ path }) => path.startsWith("/v1/messages") && !path.includes("count_tokens"));
  const said = (events: readonly LoggedEvent[]) =>
    events.flatMap(({ event }) => (event.type === "agent.message" ? event.content.map((block) => block.text) : []));

  test("a limit that one worker hits stops the other's turn before its request", async () => {
    const { stage, login, open } = await setFleet();
    const resetsAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
    stage.rehearsal.use([always(planLimit({ resetsAt }))]);
    const first = await open({ ...login, quota: { action: "stop", windows: 3 } }, "first");
    const events = await first.turn(await first.session(), "Hello?");
    const reset = resetsAt.toISOString();
    expect(the(events, "session.error").error.tandem?.resets_at).toBe(reset);
    expect(asked(stage.rehearsal)).toHaveLength(1);
    // Otherwise it could take the session of the other: any process on the store may.
    await first.stop();

    // This also clears the recorded requests.
    stage.rehearsal.use((): Reply => text("Here I am."));
    const clock = new MovableClock();
    const second = await open({ ...login, clock, quota: { action: "wait", windows: 3 } }, "second");
    const session = await second.session();
    await second.say(session, "And you?");
    const parked = await second.until(session, ({ event }) => event.type === "session.status_rescheduled");
    expect(the(parked, "tandem.parked")).toMatchObject({ resets_at: reset, resumes: true });
    expect((await second.engine.fleet.status()).limits).toMatchObject([
      { kind: "five_hour", resets_at: reset, learned_by: "first" },
    ]);
    expect(asked(stage.rehearsal)).toEqual([]);
    clock.moveTo(resetsAt);
    const answered = await second.until(session, isIdle);
    expect(said(answered)).toEqual(["Here I am."]);
    const requests = asked(stage.rehearsal);
    expect(requests).toHaveLength(1);
    const resumed = answered.findLast(({ event }) => event.type === "session.status_running")!.event;
    expect(Date.parse(resumed.processed_at!)).toBeGreaterThanOrEqual(resetsAt.getTime());
    // The message itself reached the model, not only the instruction to continue.
    expect(JSON.stringify(requests[0]!.body)).toContain("And you?");
    expect((await second.engine.fleet.status()).limits).toEqual([]);
  });

  test("a turn without waiting ends at once with the time of the reset, and sends no request; other accounts and models still work", async () => {
    const { stage, login, key, open } = await setFleet();
    const resetsAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
    stage.rehearsal.use([always(planLimit({ resetsAt, limit: "seven_day_sonnet" }))]);
    const first = await open(login, "first");
    await first.turn(await first.session(), "Hello?");
    expect(asked(stage.rehearsal)).toHaveLength(1);
    await first.stop();
    stage.rehearsal.use((): Reply => text("Here I am."));
    const stranger = await open(key, "stranger");
    expect(said(await stranger.turn(await stranger.session(), "And you?"))).toEqual(["Here I am."]);
    await stranger.stop();
    const second = await open(login, "second");
    expect(said(await second.turn(await second.session({}, { model: "haiku" }), "And you?"))).toEqual(["Here I am."]);
    const before = asked(stage.rehearsal).length;
    const events = await second.turn(await second.session(), "And Sonnet?");
    expect(the(events, "session.error").error).toMatchObject({
      type: "model_rate_limited_error",
      tandem: { code: "rate_limited", resets_at: resetsAt.toISOString() },
    });
    expect(said(events)).toEqual([]);
    expect(asked(stage.rehearsal)).toHaveLength(before);
    expect(typesOf(events)).not.toContain("span.model_request_start");
  });

  test("an API key's limit has no reset time, but others send nothing during Claude Code's retry delay", async () => {
    const { stage, key, open } = await setFleet();
    let refused = 0;
    stage.rehearsal.use((): Reply =>
      (refused += 1) <= 1 ? rateLimited({ retryAfterSeconds: 5 * Math.ceil(inject("slowness")) }) : text("Here I am."),
    );
    const [first, second] = [await open(key, "first"), await open(key, "second")];
    const [waiting, other] = [await first.session(), await second.session()];
    await first.say(waiting, "Hello?");
    const retried = await first.until(waiting, ({ event }) => event.type === "session.status_rescheduled");
    const retry = the(retried, "tandem.retry");
    // The event is written before the others can read the limit.
    await expect.poll(async () => (await second.engine.fleet.status()).limits).toHaveLength(1);
    const events = await second.turn(other, "And you?");
    expect(said(events)).toEqual(["Here I am."]);
    const began = events.find(({ event }) => event.type === "span.model_request_start")!.event;
    const until = Date.parse(retry.processed_at!) + retry.delay_ms;
    expect(Date.parse(began.processed_at!)).toBeGreaterThanOrEqual(until - 1_000);
    expect(typesOf(events)).toContain("tandem.parked");
    expect(said(await first.until(waiting, isIdle))).toEqual(["Here I am."]);
  });
});
