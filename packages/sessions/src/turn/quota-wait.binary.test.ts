import { once } from "node:events";
import { join } from "node:path";
import type { LoggedEvent } from "@tandem/protocol";
import { always, madeUpLogin, planLimit, text, toolUse, type Reply } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALLOW_ALL, textsOf, isIdle, setEngineStage, the, typesOf, type EngineStage } from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";
import { MovableClock } from "../host/movable-clock.ts";

// Plan limits need a login: a fake one, with the rehearsal as its proxy.
let stage: EngineStage;
let login: { type: "login"; configDir: string };
let variables: Record<string, string>;
beforeEach(async () => {
  stage = await setEngineStage([], { proxy: true });
  login = { type: "login", configDir: join(stage.root, "home", ".claude") };
  await madeUpLogin(login.configDir);
  variables = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(stage.root, "home"),
    TMPDIR: stage.root,
    ...stage.rehearsal.proxy.variables,
    NO_PROXY: "127.0.0.1",
  };
});
afterEach(() => stage[Symbol.asyncDispose]());

const open = (more: object = {}) =>
  stage.open({ credential: async () => login, hostVariables: variables, leaseTtl: 1_000, ...more });
const HOUR = 3_600;
const waits = { metadata: { "tandem.on_quota": "wait" } };
const isParked = ({ event }: LoggedEvent) => event.type === "tandem.parked";
/** Each time it is asked for: so many seconds from then. */
const limited = (seconds: number) => (): Reply => planLimit({ resetsAt: new Date(Date.now() + seconds * 1_000) });
const rule = (answer: () => Reply, uses = 1) => ({ type: "rule" as const, predicate: undefined, answer, uses });

test("a turn that hits a quota waits for the reset and then continues", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: "echo once >> log.txt" }), rule(limited(HOUR)), text("Done.")]);
  const clock = new MovableClock();
  const engine = await open({ clock });
  const session = await engine.session(waits, ALLOW_ALL);
  await engine.say(session, "Do it.");
  await engine.until(session, ({ event }) => event.type === "session.status_rescheduled");
  const row = (await engine.store.sessions.get(session.id))!;
  expect(row).toMatchObject({ status: "rescheduling", parked: { kind: "five_hour" } });
  expect(await stage.processes()).toEqual([]);
  // Messages that arrive meanwhile wait for the end of the turn.
  stage.rehearsal.use([text("Done."), text("Yes?")]);
  await engine.say(session, "And then?");
  clock.advance(HOUR * 1_000);
  const events = await engine.until(session, isIdle);
  expect(the(events, "tandem.parked")).toMatchObject({ resumes: true, window: 1, kind: "five_hour" });
  expect(the(events, "session.error").error).toMatchObject({ retry_status: { type: "retrying" } });
  expect(textsOf(events)).toEqual(["Done.", "Yes?"]);
  expect(typesOf(events).filter((type) => type === "agent.tool_use")).toHaveLength(1);
  expect(the(events, "session.status_idle").stop_reason.type).toBe("end_turn");
  expect((await engine.store.sessions.get(session.id))!.parked).toBeNull();
  expect(await judgeSession(engine, session)).toEqual([]);

  // A stopping server leaves the turn waiting, and the next server continues it.
  stage.rehearsal.use([rule(limited(2 * HOUR))]);
  const head = await engine.engine.sessions.head(session.id);
  await engine.say(session, "And again.");
  await engine.until(session, ({ event }) => event.type === "session.status_rescheduled", head);
  await engine.stop();
  stage.rehearsal.use([text("Done again.")]);
  const later = new MovableClock();
  const second = await open({ clock: later });
  later.advance(2 * HOUR * 1_000);
  expect(textsOf(await second.until(session, isIdle, head))).toEqual(["Done again."]);
});

test("without the setting, the turn ends and reports the reset time", async () => {
  const resetsAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
  stage.rehearsal.use([always(planLimit({ resetsAt }))]);
  const engine = await open();
  const session = await engine.session({}, ALLOW_ALL);
  const events = await engine.turn(session, "Do it.");
  expect(typesOf(events)).not.toContain("tandem.parked");
  expect(the(events, "session.status_idle").stop_reason.type).toBe("retries_exhausted");
  expect(the(events, "session.error").error.tandem?.resets_at).toBe(resetsAt.toISOString());
});

test("it stops waiting after the maximum number of waits, and can be interrupted", async () => {
  stage.rehearsal.use([rule(limited(1), 2)]);
  const engine = await open({ quota: { action: "wait", windows: 1 } });
  const session = await engine.session({}, ALLOW_ALL);
  await engine.say(session, "Do it.");
  await engine.until(session, isParked);
  const events = await engine.until(session, isIdle);
  expect(typesOf(events).filter((type) => type === "tandem.parked")).toHaveLength(1);
  expect(the(events, "session.status_idle").stop_reason.type).toBe("retries_exhausted");

  stage.rehearsal.use([rule(limited(3_600))]);
  const head = await engine.engine.sessions.head(session.id);
  await engine.say(session, "Again.");
  await engine.until(session, isParked, head);
  await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
  const ended = await engine.until(session, isIdle, head);
  expect(the(ended, "session.status_idle").stop_reason.type).toBe("end_turn");
  expect((await engine.store.sessions.get(session.id))!).toMatchObject({ status: "idle", parked: null });
});

test("after a kill during the wait, the next server continues the wait and the turn", async () => {
  stage.rehearsal.use([toolUse("Bash", { command: "echo once >> log.txt" }), rule(limited(HOUR))]);
  const settings = { hostVariables: variables };
  const { process: server, session } = await stage.spawn(ALLOW_ALL, "Do it.", {
    session: waits,
    settings,
    credential: login,
  });
  await stage.until(session, ({ event }) => event.type === "session.status_rescheduled");
  server.kill("SIGKILL");
  await once(server, "exit");
  stage.rehearsal.use([text("Done.")]);
  const clock = new MovableClock();
  const next = await open({ clock });
  clock.advance(HOUR * 1_000);
  const events = await next.until(session, isIdle);
  expect(textsOf(events)).toEqual(["Done."]);
  expect(typesOf(events).filter((type) => type === "tandem.parked")).toHaveLength(1);
  expect(typesOf(events)).not.toContain("tandem.recovered");
  const { resets_at: resetsAt } = the(events, "tandem.parked");
  const resumed = events.findLast(({ event }) => event.type === "session.status_running")!.event;
  expect(Date.parse(resumed.processed_at!)).toBeGreaterThanOrEqual(Date.parse(resetsAt));
  expect(await judgeSession(next, session)).toEqual([]);
});
