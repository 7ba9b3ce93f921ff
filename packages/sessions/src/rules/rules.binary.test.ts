import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoggedEvent, Session, SessionId } from "@tandem/protocol";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, inject, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the } from "../testing/engine-stage.ts";
import { isOver } from "../testing/until-asked.ts";
import { EVASIONS } from "@tandem/policy/testing";

const stage = await setEngineStage();
const engine = await stage.open();
mkdirSync(join(stage.folder, "sub"));
writeFileSync(join(stage.folder, "protected.txt"), "as it was");
writeFileSync(join(stage.folder, "victim.txt"), "here");
writeFileSync(join(stage.folder, "clean.sh"), "rm victim.txt");
writeFileSync(join(stage.folder, "Makefile"), "clean:\n\trm victim.txt\n");
writeFileSync(join(stage.folder, "package.json"), '{"scripts":{"clean":"rm victim.txt"}}');
symlinkSync("protected.txt", join(stage.folder, "link-to-protected"));
execFileSync("git", ["init", "-q", stage.folder]);
const { rules } = engine.engine;
const place = { scope: "project" as const, of: stage.folder, by: "a test" };
await rules.add({ tool: "Bash", pattern: "git status", action: "allow" }, place);
await rules.add({ tool: "Bash", pattern: "rm", action: "deny" }, place);
await rules.add({ tool: "edit", pattern: "protected.txt", action: "deny" }, place);
afterAll(() => stage[Symbol.asyncDispose]());

const bash = (command: string) => toolUse("Bash", { command });
const uses = (events: readonly LoggedEvent[]) =>
  events.flatMap(({ event }) => (event.type === "agent.tool_use" ? [event] : []));
const results = (events: readonly LoggedEvent[]): string =>
  JSON.stringify(events.flatMap(({ event }) => (event.type === "agent.tool_result" ? [event.content] : [])));

/** Sends a message, denies every request, and returns the turn's events. */
async function turnWithoutConsent(session: Session): Promise<LoggedEvent[]> {
  const answered = new Set<string>();
  const seen: LoggedEvent[] = [];
  const after = await engine.engine.sessions.head(session.id);
  await engine.say(session, "Go on.");
  // Sixty calls are denied one by one.
  const signal = AbortSignal.timeout(240_000 * inject("slowness"));
  for await (const batch of engine.store.events.follow(session.id as SessionId, after, signal)) {
    for (const logged of batch) {
      seen.push(logged);
      if (isOver(logged)) return seen;
      if (logged.event.type !== "session.status_idle" || logged.event.stop_reason.type !== "requires_action") continue;
      for (const id of logged.event.stop_reason.event_ids.filter((each) => !answered.has(each))) {
        answered.add(id);
        await engine.engine.sessions.send(session.id, [
          { type: "user.tool_confirmation", tool_use_id: id, result: "deny" },
        ]);
      }
    }
  }
  throw new Error("The turn did not end.");
}

/** Commands that would reach outside the folder if they ran; the test in memory covers them. */
const OUTSIDE = /sudo|ssh|docker|crontab|^at |npx|npm exec|tandem|claude|elsewhere|clean -fdx|\/dev\/tcp/;
const inside = EVASIONS.filter((command) => !OUTSIDE.test(command));
const tried = inject("soak") ? inside : inside.filter((_, index) => index % 3 === 0);

test("no evasion of a rule runs in a session that bypasses permissions", async () => {
  const before = readdirSync(stage.folder).toSorted();
  const config = readFileSync(join(stage.folder, ".git/config"), "utf8");
  const session = await engine.reuse(ALLOW_ALL);
  expect(inside.length).toBeGreaterThanOrEqual(120);

  for (let from = 0; from < tried.length; from += 60) {
    stage.rehearsal.use([reply([bash("git status"), ...tried.slice(from, from + 60).map(bash)]), text("I give up.")]);
    const events = await turnWithoutConsent(session);
    const [allowed, ...others] = uses(events);
    expect(allowed).toMatchObject({ evaluated_permission: "allow", tandem: { verdict: { by: "rule" } } });
    for (const { input, evaluated_permission: permission, tandem } of others) {
      expect(permission, String(input["command"])).not.toBe("allow");
      expect(tandem.verdict?.why).toMatch(/\.$/);
    }
    expect(results(events)).toContain("On branch");
  }

  expect(readFileSync(join(stage.folder, "protected.txt"), "utf8")).toBe("as it was");
  expect(readFileSync(join(stage.folder, "victim.txt"), "utf8")).toBe("here");
  expect(readFileSync(join(stage.folder, ".git/config"), "utf8")).toBe(config);
  expect(readdirSync(stage.folder).toSorted()).toEqual(before);
});

test("no tool can write a denied file, and the model is told the rule", async () => {
  const path = join(stage.folder, "link-to-protected");
  stage.rehearsal.use([toolUse("Write", { file_path: path, content: "x" }), text("I see.")]);
  const session = await engine.reuse(ALLOW_ALL);
  const events = await turnWithoutConsent(session);
  expect(the(events, "agent.tool_use")).toMatchObject({
    evaluated_permission: "deny",
    tandem: { verdict: { action: "deny", rule: { tool: "edit", pattern: "protected.txt" } } },
  });
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body)).toContain("rule edit(protected.txt)");
  expect(readFileSync(join(stage.folder, "protected.txt"), "utf8")).toBe("as it was");
});

test("every command starts in the session's folder, whatever an earlier one did", async () => {
  stage.rehearsal.use([bash("cd sub && pwd"), bash("pwd"), text("Done.")]);
  const session = await engine.reuse(ALLOW_ALL);
  const events = await turnWithoutConsent(session);
  const said = events.flatMap(({ event }) =>
    event.type === "agent.tool_result" ? [JSON.stringify(event.content)] : [],
  );
  expect(said[0]).toContain(`${stage.folder}/sub`);
  expect(said[1]).toContain(stage.folder);
  expect(said[1]).not.toContain(`${stage.folder}/sub`);
});

test("a rule changed by another process applies to the next turn of a running session", async () => {
  const other = await stage.open();
  stage.rehearsal.use([bash("ls sub"), text("One."), bash("ls sub"), text("Two."), bash("ls sub"), text("Three.")]);
  const session = await engine.reuse(ALLOW_ALL);
  const permission = async () => uses(await turnWithoutConsent(session))[0]?.evaluated_permission;
  expect(await permission()).toBe("allow");
  const place = { scope: "session" as const, of: session.id, by: "another" };
  const rule = await other.engine.rules.add({ tool: "Bash", pattern: "ls", action: "deny" }, place);
  expect(await permission()).toBe("deny");
  await other.engine.rules.remove(rule.id!);
  expect(await permission()).toBe("allow");
  await other.stop();
});

test("rules of a session are deleted with it", async () => {
  const session = await engine.session({}, ALLOW_ALL);
  const place = { scope: "session" as const, of: session.id };
  await engine.engine.rules.add({ tool: "Bash", action: "allow" }, { ...place, by: "a test" });
  await engine.engine.sessions.delete(session.id);
  expect(await engine.engine.rules.list(place)).toEqual([]);
});
