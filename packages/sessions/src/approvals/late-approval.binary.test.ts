import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoggedEvent } from "@tandem/protocol";
import { always, reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allow, deny, isOver, pendingOf, untilAsked } from "../testing/until-asked.ts";
import { setEngineStage, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";

let stage: EngineStage;
beforeAll(async () => {
  stage = await setEngineStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const bash = (command: string) => toolUse("Bash", { command });
const effectsOf = async (name: string): Promise<string[]> =>
  existsSync(join(stage.folder, name)) ? (await readFile(join(stage.folder, name), "utf8")).trim().split("\n") : [];
const statesOf = (events: readonly LoggedEvent[]): string[] =>
  events.flatMap(({ event }) => (event.type === "tandem.tool_state" ? [event.state] : []));
const neverRepeats = () => always(text("Done."));
const lastRequest = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body) ?? "";
const open = (): Promise<RunningEngine> => stage.open({ leaseTtl: 1_000 });

const killChildren = async (): Promise<void> => {
  for (const pid of await stage.processes()) process.kill(-pid, "SIGKILL");
  await expect.poll(() => stage.processes()).toEqual([]);
};

async function crash(engine: RunningEngine): Promise<void> {
  await engine.vanish();
  await killChildren();
}

test("an allowed call runs after a crash of the server, although the model does not repeat it", async () => {
  const first = await open();
  stage.rehearsal.use([bash("echo ran >> server.txt"), neverRepeats()]);
  const session = await first.session();
  const [asked] = await untilAsked(first, session);
  await crash(first);
  const second = await open();
  await second.engine.approvals.answer(asked!.id, allow, "Ada");
  const events = await second.until(session, isOver);
  expect(await effectsOf("server.txt")).toEqual(["ran"]);
  expect(statesOf(events)).toEqual(["waiting", "allowed", "running", "done"]);
  expect(events.filter(({ event }) => event.type === "agent.tool_use")).toHaveLength(1);
  expect(events.filter(({ event }) => event.type === "agent.tool_result")).toHaveLength(1);
  expect(stage.rehearsal.modelRequests).toHaveLength(2);
  await second.stop();
});

describe.each(["SIGKILL", "SIGTERM", "SIGSEGV"] as const)(
  "Claude Code dies by %s while an approval waits",
  (signal) => {
    test("the approval stays open, and answering it continues the turn", async () => {
      const engine = await open();
      const file = `${signal}.txt`;
      stage.rehearsal.use([bash(`echo ran >> ${file}`), neverRepeats()]);
      const session = await engine.session();
      const [asked] = await untilAsked(engine, session);
      const head = await engine.engine.sessions.head(session.id);
      for (const pid of await stage.processes()) process.kill(pid, signal);
      await engine.until(session, ({ event }) => event.type === "tandem.recovered", head);
      expect(await pendingOf(engine, session)).toMatchObject([{ id: asked!.id, status: "pending" }]);
      await engine.engine.approvals.answer(asked!.id, allow, "Ada");
      const events = await engine.until(session, isOver);
      expect(await effectsOf(file)).toEqual(["ran"]);
      expect(statesOf(events)).toEqual(["waiting", "allowed", "running", "done"]);
      await engine.stop();
    });
  },
);

test("of several calls the allowed ones run in order, edited ones as edited, and denied ones never", async () => {
  const first = await open();
  stage.rehearsal.use([
    reply(["one", "two", "three"].map((word) => bash(`echo ${word} >> several.txt`))),
    neverRepeats(),
  ]);
  const session = await first.session();
  const asked = await untilAsked(first, session, { count: 3 });
  const idOf = (word: string) => asked.find(({ input }) => JSON.stringify(input).includes(`echo ${word} `))!.id;
  await crash(first);
  const second = await open();
  await second.engine.approvals.answer(idOf("one"), allow, "Ada");
  await second.engine.approvals.answer(idOf("two"), { ...deny, message: "Not this one." }, "Ada");
  const input = { command: "echo edited >> several.txt" };
  await second.engine.approvals.answer(idOf("three"), { ...allow, input }, "Ada");
  await second.until(session, isOver);
  expect(await effectsOf("several.txt")).toEqual(["one", "edited"]);
  expect(lastRequest()).toContain("Not this one.");
  expect(lastRequest()).toContain("The user changed the input of the call");
  expect(stage.rehearsal.modelRequests).toHaveLength(2);
  await second.stop();
});

describe("a call whose process dies while it runs", () => {
  const begun = (name: string) => `echo begun >> ${name}; tail -f /dev/null`;

  async function untilUnknown(name: string) {
    const engine = await open();
    stage.rehearsal.use([bash(begun(name)), neverRepeats()]);
    const session = await engine.session();
    const [asked] = await untilAsked(engine, session);
    await engine.engine.approvals.answer(asked!.id, allow, "Ada");
    await expect.poll(() => effectsOf(name)).toEqual(["begun"]);
    const head = await engine.engine.sessions.head(session.id);
    await killChildren();
    await engine.until(session, ({ event }) => event.type === "session.status_idle", head);
    const [question] = await pendingOf(engine, session);
    expect(question).toMatchObject({ kind: "question", status: "pending" });
    return { engine, session, question: question! };
  }
  const choose = (choice: string) => ({ ...allow, input: { answers: { Outcome: choice } } });

  test("is not repeated: a person says that it worked, and the turn continues", async () => {
    const { engine, session, question } = await untilUnknown("worked.txt");
    await engine.engine.approvals.answer(question.id, choose("It worked"), "Ada");
    const events = await engine.until(session, isOver);
    expect(await effectsOf("worked.txt")).toEqual(["begun"]);
    expect(statesOf(events)).toEqual(["waiting", "allowed", "running", "unknown", "done"]);
    expect(lastRequest()).toContain("the call took effect");
    await engine.stop();
  });

  test("runs again only if a person says so, also after a crash of the server", async () => {
    const { engine, session, question } = await untilUnknown("again.txt");
    await crash(engine);
    const second = await open();
    await second.engine.approvals.answer(question.id, choose("Run again"), "Ada");
    await expect.poll(() => effectsOf("again.txt")).toEqual(["begun", "begun"]);
    await second.engine.sessions.send(session.id, [{ type: "user.interrupt" }], "Ada");
    await second.until(session, isOver);
    await second.stop();
  });
});
