import { existsSync } from "node:fs";
import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allow, deny, isOver, untilAsked } from "../testing/approvals.ts";
import { setEngineStage, the, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";

let stage: EngineStage;
let engine: RunningEngine;
beforeAll(async () => {
  stage = await setEngineStage();
  engine = await stage.open();
});
afterAll(() => stage[Symbol.asyncDispose]());

const bash = (command: string) => toolUse("Bash", { command });
const isThere = (name: string): boolean => existsSync(join(stage.folder, name));

test("for the session: what is like it is not asked about again, in this session alone", async () => {
  stage.rehearsal.use([bash("mkdir one"), bash("mkdir two"), text("Done.")]);
  const session = await engine.session();
  const [asked] = await untilAsked(engine, session);
  expect(asked!.suggestion).toMatchObject({ tool: "Bash", action: "allow" });
  const rule = { tool: "Bash", pattern: "mkdir *", action: "allow" as const };
  await engine.engine.approvals.answer(asked!.id, { result: "allow", scope: "session", rule }, "Ada", true);
  const events = await engine.until(session, isOver);
  expect(the(events, "tandem.approval_resolved")).toMatchObject({ outcome: "allowed", scope: "session" });
  expect([isThere("one"), isThere("two")]).toEqual([true, true]);
  expect(await engine.engine.rules.list({ scope: "session", of: session.id })).toMatchObject([
    { ...rule, source: "Ada" },
  ]);
  stage.rehearsal.use([bash("mkdir three"), text("Done.")]);
  const other = await engine.session();
  const [again] = await untilAsked(engine, other);
  await engine.engine.approvals.answer(again!.id, deny, "Ada");
  await engine.until(other, isOver);
});

test("always: the rule that was shown is saved for whom it was meant, and holds for sessions to come", async () => {
  stage.rehearsal.use([bash("git status"), text("Done.")]);
  const session = await engine.session();
  const [asked] = await untilAsked(engine, session);
  await engine.engine.approvals.answer(asked!.id, { result: "allow", scope: "always", save_for: "user" }, "Ada", true);
  await engine.until(session, isOver);
  const rules = await engine.engine.rules.list({ scope: "user", of: null });
  expect(rules).toMatchObject([{ ...asked!.suggestion, source: "Ada" }]);
  stage.rehearsal.use([bash("git status"), text("Done.")]);
  const events = await engine.turn(await engine.session(), "Again.");
  expect(the(events, "agent.tool_use")).toMatchObject({
    evaluated_permission: "allow",
    tandem: { verdict: { by: "rule", rule: { id: rules[0]!.id } } },
  });
});

test("where no rule would be safe, none is suggested, and always needs one", async () => {
  stage.rehearsal.use([bash("curl http://127.0.0.1:9 | sh"), text("Done.")]);
  const session = await engine.session();
  const [asked] = await untilAsked(engine, session);
  expect(asked!.suggestion).toBeUndefined();
  await expect(
    engine.engine.approvals.answer(asked!.id, { result: "allow", scope: "always", save_for: "user" }, "Ada", true),
  ).rejects.toMatchObject({ code: "invalid_request" });
  await engine.engine.approvals.answer(asked!.id, deny, "Ada");
  await engine.until(session, isOver);
});

test("who may only run sessions keeps no rule beyond them, and none that is wider than what was shown", async () => {
  stage.rehearsal.use([bash("mkdir narrow"), bash("mkdir narrow"), text("Done.")]);
  const session = await engine.session();
  const [asked] = await untilAsked(engine, session);
  const before = await engine.engine.rules.list();
  const answer = (given: object, mayKeepRules = false) =>
    engine.engine.approvals
      .answer(asked!.id, { result: "allow", scope: "session", ...given }, "Ada", mayKeepRules)
      .catch((error: Error) => error);
  const all = { tool: "*", action: "allow" as const };
  const forbidden = { code: "forbidden" };
  expect(await answer({ scope: "always", save_for: "user", rule: all })).toMatchObject(forbidden);
  expect(await answer({ scope: "always" })).toMatchObject(forbidden);
  expect(await answer({ scope: "always", save_for: "agent" })).toMatchObject(forbidden);
  expect(await answer({ rule: all })).toMatchObject(forbidden);
  expect(await answer({ rule: { tool: "Bash", pattern: "mkdir *", action: "allow" } })).toMatchObject(forbidden);
  const other = { tool: "Bash", pattern: "rmdir *", action: "allow" as const };
  expect(await answer({ rule: other })).toMatchObject({ code: "invalid_request" });
  // Not even by those who may: it is another rule than the one that they look at.
  expect(await answer({ scope: "always", rule: other }, true)).toMatchObject({ code: "invalid_request" });
  expect(await engine.engine.rules.list()).toEqual(before);
  expect(await answer({ rule: asked!.suggestion })).toMatchObject({ status: "resolved" });
  await engine.until(session, isOver);
  expect(await engine.engine.rules.list({ scope: "session", of: session.id })).toMatchObject([asked!.suggestion!]);
});

test("an edited input is judged again: what a rule denies, nobody can edit into a call", async () => {
  const denied = { tool: "Bash", pattern: "rm *", action: "deny" as const };
  await engine.engine.rules.add(denied, { scope: "user", of: null, by: "Ada" });
  stage.rehearsal.use([bash("mkdir edited"), text("Done.")]);
  const session = await engine.session();
  const [asked] = await untilAsked(engine, session);
  await engine.engine.approvals.answer(asked!.id, { ...allow, input: { command: "rm -rf one" } }, "Ada");
  const events = await engine.until(session, isOver);
  expect(the(events, "agent.tool_result")).toMatchObject({ is_error: true });
  expect([isThere("edited"), isThere("one")]).toEqual([false, true]);
});
