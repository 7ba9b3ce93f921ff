import { join } from "node:path";
import type { LoggedEvent, Session } from "@tandem/protocol";
import { madeUpLogin, text, unauthorized, type RehearsalOptions } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { setEngineStage, the, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";

const SESSIONS = 4;
const longAgo = () => new Date(Date.now() - 60_000);

/** An engine whose sessions share one fake login behind the rehearsal's proxy. */
async function setLoginStage(options: Pick<RehearsalOptions, "refresh"> = {}) {
  const stage = await setEngineStage([], { proxy: true, ...options });
  const home = join(stage.root, "home");
  const configDir = join(home, ".claude");
  const { PATH = "" } = process.env;
  const hostVariables = { PATH, HOME: home, TMPDIR: stage.root, ...stage.rehearsal.proxy.variables };
  return {
    ...stage,
    logIn: (expiresAt?: Date) => madeUpLogin(configDir, expiresAt && { expiresAt }),
    open: () =>
      stage.open({
        credential: async () => ({ type: "login", configDir }),
        hostVariables: { ...hostVariables, NO_PROXY: "127.0.0.1" },
      }),
  };
}

const sessionsOf = (running: RunningEngine): Promise<Session[]> =>
  Promise.all(Array.from({ length: SESSIONS }, () => running.session()));

const allSay = (running: RunningEngine, sessions: readonly Session[], words: string): Promise<LoggedEvent[][]> =>
  Promise.all(sessions.map((session) => running.turn(session, words)));

/** The outcome of each attempt to refresh the login. */
const renewals = ({ rehearsal }: Pick<EngineStage, "rehearsal">): (number | undefined)[] =>
  rehearsal.requests.filter(({ answeredBy }) => answeredBy === "oauth token").map(({ status }) => status);

const answers = (turns: readonly LoggedEvent[][]): string[] =>
  turns.map((events) => {
    expect(the(events, "session.status_idle").stop_reason).toEqual({ type: "end_turn" });
    return the(events, "agent.message")
      .content.map((block) => ("text" in block ? block.text : ""))
      .join("");
  });

const HELLO = Array.from({ length: SESSIONS }, () => "Hello.");

test("four sessions start with an expired login: one refreshes it, and all get answers", async () => {
  await using stage = await setLoginStage();
  stage.rehearsal.use(() => text("Hello."));
  await stage.logIn(longAgo());
  const running = await stage.open();
  expect(answers(await allSay(running, await sessionsOf(running), "Hello?"))).toEqual(HELLO);
  expect(renewals(stage)).toEqual([200]);
});

test("four sessions resume after their login expired: one refreshes it, and all get answers", async () => {
  await using stage = await setLoginStage();
  stage.rehearsal.use(() => text("Hello."));
  await stage.logIn();
  const first = await stage.open();
  const sessions = await sessionsOf(first);
  await allSay(first, sessions, "Hello?");
  await first.stop();
  expect(renewals(stage)).toEqual([]);
  await stage.logIn(longAgo());
  const second = await stage.open();
  expect(answers(await allSay(second, sessions, "Still there?"))).toEqual(HELLO);
  expect(renewals(stage)).toEqual([200]);
});

test("a token rejected under four running processes is refreshed once, and all get answers", async () => {
  await using stage = await setLoginStage();
  let revoked: string | undefined;
  stage.rehearsal.use(({ headers }) => (headers.authorization === revoked ? unauthorized() : text("Hello.")));
  const { accessToken } = await stage.logIn();
  const running = await stage.open();
  const sessions = await sessionsOf(running);
  await allSay(running, sessions, "Hello?");
  revoked = `Bearer ${accessToken}`;
  expect(answers(await allSay(running, sessions, "Still there?"))).toEqual(HELLO);
  expect(renewals(stage)).toEqual([200]);
});

test.each([
  ["when they begin", false],
  ["while they run", true],
])("a refresh rejected %s asks all four sessions to log in, and they continue after a login", async (_, warm) => {
  await using stage = await setLoginStage({ refresh: "invalid_grant" });
  let revoked: string | undefined;
  stage.rehearsal.use(({ headers }) => (headers.authorization === revoked ? unauthorized() : text("Hello.")));
  const { accessToken } = await stage.logIn(warm ? undefined : longAgo());
  const running = await stage.open();
  const sessions = await sessionsOf(running);
  if (warm) await allSay(running, sessions, "Hello?");
  revoked = `Bearer ${accessToken}`;
  for (const events of await allSay(running, sessions, "Still there?")) {
    const error = events.findLast(({ event }) => event.type === "session.error")?.event;
    expect(error).toMatchObject({
      error: { retry_status: { type: "exhausted" }, tandem: { code: "not_logged_in", fix: LOG_IN_AGAIN } },
    });
    expect(the(events, "tandem.notice")).toMatchObject({ level: "error", text: LOG_IN_AGAIN });
    expect(the(events, "session.status_idle")).toBeDefined();
  }
  // The others do not send the rejected token again.
  expect(renewals(stage)).toEqual([400]);
  await stage.logIn();
  expect(answers(await allSay(running, sessions, "And now?"))).toEqual(HELLO);
});

const LOG_IN_AGAIN = expect.stringContaining("Log in again with the Claude Code CLI");
