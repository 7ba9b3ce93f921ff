import { existsSync } from "node:fs";
import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { allow, deny, isOver, untilAsked } from "../testing/until-asked.ts";
import { setEngineStage, the } from "../testing/engine-stage.ts";

const stage = await setEngineStage();
const engine = await stage.open();
afterAll(() => stage[Symbol.asyncDispose]());

const bash = (command: string) => toolUse("Bash", { command });
const isThere = (name: string): boolean => existsSync(join(stage.folder, name));

test("for the session: similar calls run without approval, in this session only", async () => {
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
  const other = await engine.reuse();
  const [again] = await untilAsked(engine, other);
  await engine.engine.approvals.answer(again!.id, deny, "Ada");
  await engine.until(other, isOver);
});

test("always: the suggested rule is saved in the chosen scope and applies to later sessions", async () => {
  stage.rehearsal.use([bash("git status"), text("Done.")]);
  const session = await engine.reuse();
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

test("if no rule is safe, none is suggested, and `always` needs an explicit one", async () => {
  stage.rehearsal.use([bash("curl http://127.0.0.1:9 | sh"), text("Done.")]);
  const session = await engine.reuse();
  const [asked] = await untilAsked(engine, session);
  expect(asked!.suggestion).toBeUndefined();
  await expect(
    engine.engine.approvals.answer(asked!.id, { result: "allow", scope: "always", save_for: "user" }, "Ada", true),
  ).rejects.toMatchObject({ code: "invalid_request" });
  await engine.engine.approvals.answer(asked!.id, deny, "Ada");
  await engine.until(session, isOver);
});

test("a token with scope `run` cannot save rules beyond the session, or rules wider than the suggestion", async () => {
  stage.rehearsal.use([bash("mkdir narrow"), bash("mkdir narrow"), text("Done.")]);
  const session = await engine.reuse();
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
  // Not even with the right to do so: it is not the rule that they were shown.
  expect(await answer({ scope: "always", rule: other }, true)).toMatchObject({ code: "invalid_request" });
  expect(await engine.engine.rules.list()).toEqual(before);
  expect(await answer({ rule: asked!.suggestion })).toMatchObject({ status: "resolved" });
  await engine.until(session, isOver);
  expect(await engine.engine.rules.list({ scope: "session", of: session.id })).toMatchObject([asked!.suggestion!]);
});

test("an edited input is judged again and cannot become a denied call", async () => {
  const denied = { tool: "Bash", pattern: "rm *", action: "deny" as const };
  await engine.engine.rules.add(denied, { scope: "user", of: null, by: "Ada" });
  stage.rehearsal.use([bash("mkdir edited"), text("Done.")]);
  const session = await engine.reuse();
  const [asked] = await untilAsked(engine, session);
  await engine.engine.approvals.answer(asked!.id, { ...allow, input: { command: "rm -rf one" } }, "Ada");
  const events = await engine.until(session, isOver);
  expect(the(events, "agent.tool_result")).toMatchObject({ is_error: true });
  expect([isThere("edited"), isThere("one")]).toEqual([false, true]);
});
