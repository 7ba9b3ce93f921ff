import { always, reply, text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isIdle, setEngineStage, the } from "../testing/engine-stage.ts";

const ALLOWED = { default_config: { permission_policy: { type: "always_allow" as const } } };

/** Writes a file with a command that contains a secret, then reports it. */
const writer = ({ toolResults }: ModelRequest) =>
  toolResults.length > 0
    ? text("Done.")
    : reply([toolUse("Bash", { command: "echo hi > made; MY_TOKEN=hunter22hunter true", description: "Make" })]);

test("records who asked, what was allowed, what ran and the cost, and outlives the session", async () => {
  await using stage = await setEngineStage(writer);
  const running = await stage.open();
  const { engine, store } = running;
  const session = await running.session({}, { tools: [{ type: "agent_toolset_20260401", ...ALLOWED }] });
  const after = await engine.sessions.head(session.id);
  const content = [{ type: "text" as const, text: "Make the file, please" }];
  await engine.sessions.send(session.id, [{ type: "user.message", content, tandem: { by: "mallory" } }], "ann");
  await running.until(session, isIdle, after);
  expect(await readFile(join(stage.folder, "made"), "utf8")).toBe("hi\n");

  const { data } = await engine.audit.list({ limit: 100, order: "asc", session: session.id });
  expect(data.map(({ kind, actor }) => `${actor} ${kind}`)).toEqual(
    expect.arrayContaining([
      "unknown session.created",
      "ann message.sent",
      "agent:tester call.requested",
      "agent:tester call.finished",
      "tandem cost.counted",
      "tandem turn.ended",
    ]),
  );
  const requested = data.find(({ kind }) => kind === "call.requested")!;
  expect(requested.details).toMatchObject({ tool: "Bash", permission: "allow", input: { description: "Make" } });
  expect(requested.details["input_sha256"]).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(data)).not.toContain("hunter22");
  expect(JSON.stringify(data)).not.toContain("mallory");
  const cost = data.find(({ kind }) => kind === "cost.counted")!;
  expect(cost.details["usd"]).toBeGreaterThan(0);

  await engine.sessions.delete(session.id, "bob");
  const left = await engine.audit.list({ limit: 100, session: session.id });
  expect(left.data[0]).toMatchObject({ kind: "session.deleted", actor: "bob" });
  expect(left.data).toHaveLength(data.length + 1);
  expect(await engine.audit.verify([await store.audit.head()])).toMatchObject({ ok: true });
});

test("the next engine records once what a crash left unread", async () => {
  await using stage = await setEngineStage([always(text("Hello."))]);
  const first = await stage.open();
  const session = await first.session();
  const events = await first.turn(session, "Hi");
  const message = the(events, "user.message");
  // Simulate a crash before the first read.
  await first.vanish();

  const engines = [await stage.open(), await stage.open()];
  const lists = await Promise.all(
    engines.map(({ engine }) => engine.audit.list({ limit: 100, order: "asc", session: session.id })),
  );
  for (const { data } of lists) {
    expect(data.filter(({ details }) => details["event"] === message.id)).toHaveLength(1);
    expect(data.filter(({ kind }) => kind === "turn.ended")).toHaveLength(1);
  }
  expect(await engines[0]!.engine.audit.verify([])).toMatchObject({ ok: true });
});

test("notes outside sessions are in the same chain", async () => {
  await using stage = await setEngineStage();
  const { engine, store } = await stage.open();
  await engine.audit.note({ kind: "rule.added", actor: "ann", details: { tool: "Bash", secret: "x" } });
  await engine.audit.note({ kind: "rule.removed", actor: "ann", details: { id: "rule_1" } });
  const { data } = await engine.audit.list({ limit: 10, actor: "ann" });
  expect(data.map(({ kind }) => kind)).toEqual(["rule.removed", "rule.added"]);
  expect(data[1]!.details["secret"]).toBe("[redacted]");
  const noted = await store.audit.head();
  expect(await engine.audit.verify([{ ...noted, seq: noted.seq + 1 }])).toMatchObject({
    broken: { problem: "truncated" },
  });
});
