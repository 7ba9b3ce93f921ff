import { join } from "node:path";
import type { LoggedEvent, Session } from "@tandem/protocol";
import { madeUpLogin, text, unauthorized, type RehearsalOptions } from "@tandem/rehearsal";
import { expect, inject, test } from "vitest";
import { setEngineStage, the, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";

const SESSIONS = inject("soak") ? 4 : 2;
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

/** Result of each attempt to renew the login. */
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

test("a login that has run out, or that is refused under running processes, is renewed once, and all are answered", async () => {
  await using stage = await setLoginStage();
  let current: string | undefined;
  let revoked: string | undefined;
  stage.rehearsal.use(({ headers }) => {
    if (headers.authorization === revoked) return unauthorized();
    current = headers.authorization;
    return text("Hello.");
  });
  // It ran out before the sessions began.
  await stage.logIn(longAgo());
  const first = await stage.open();
  const sessions = await sessionsOf(first);
  expect(answers(await allSay(first, sessions, "Hello?"))).toEqual(HELLO);
  expect(renewals(stage)).toEqual([200]);
  // The API refuses it while they run.
  revoked = current;
  expect(answers(await allSay(first, sessions, "And now?"))).toEqual(HELLO);
  expect(renewals(stage)).toEqual([200, 200]);
  if (!inject("soak")) return;
  // It ran out before another server resumes them.
  await first.stop();
  await stage.logIn(longAgo());
  const second = await stage.open();
  expect(answers(await allSay(second, sessions, "Still there?"))).toEqual(HELLO);
  expect(renewals(stage)).toEqual([200, 200, 200]);
});

test("a renewal that is refused, while sessions run and when they begin: all are told to log in again, and continue after a login", async () => {
  await using stage = await setLoginStage({ refresh: "invalid_grant" });
  let revoked: string | undefined;
  stage.rehearsal.use(({ headers }) => (headers.authorization === revoked ? unauthorized() : text("Hello.")));
  const { accessToken } = await stage.logIn();
  const first = await stage.open();
  const sessions = await sessionsOf(first);
  await allSay(first, sessions, "Hello?");
  revoked = `Bearer ${accessToken}`;
  expectLoggedOut(await allSay(first, sessions, "Still there?"));
  // Each refused token is sent once.
  expect(renewals(stage)).toEqual([400]);
  await stage.logIn();
  revoked = undefined;
  expect(answers(await allSay(first, sessions, "And now?"))).toEqual(HELLO);
  await first.stop();

  const expired = await stage.logIn(longAgo());
  revoked = `Bearer ${expired.accessToken}`;
  const second = await stage.open();
  expectLoggedOut(await allSay(second, sessions, "Still there?"));
  expect(renewals(stage)).toEqual([400, 400]);
  if (!inject("soak")) return;
  await stage.logIn();
  revoked = undefined;
  expect(answers(await allSay(second, sessions, "And now?"))).toEqual(HELLO);
});

function expectLoggedOut(turns: readonly LoggedEvent[][]): void {
  for (const events of turns) {
    const error = events.findLast(({ event }) => event.type === "session.error")?.event;
    expect(error).toMatchObject({
      error: { retry_status: { type: "exhausted" }, tandem: { code: "not_logged_in", fix: LOG_IN_AGAIN } },
    });
    expect(the(events, "tandem.notice")).toMatchObject({ level: "error", text: LOG_IN_AGAIN });
    expect(the(events, "session.status_idle")).toBeDefined();
  }
}

const LOG_IN_AGAIN = expect.stringContaining("Log in again with `tandem login`");
