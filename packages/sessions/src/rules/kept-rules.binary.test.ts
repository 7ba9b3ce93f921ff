import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Rule, systemClock } from "@tandem/protocol";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { describe, expect, test } from "vitest";
import { resolveTools } from "@tandem/policy";
import { KeptRules } from "./kept-rules.ts";

const root = await scratchFolder();
const project = join(root, "project");
mkdirSync(project);
const store = await scratchStore(root);

const openWith = (more: object): KeptRules =>
  new KeptRules({
    clock: systemClock,
    records: store.records,
    file: [],
    project,
    stateFolder: join(root, "state"),
    home: root,
    toolsOf: async () => resolveTools([{ type: "agent_toolset_20260401" }], []),
    sessionOf: async () => ({ folder: project, agentId: "agent_1", mode: undefined }),
    ...more,
  });
const open = (...file: Rule[]): KeptRules => openWith({ file });

const user = { scope: "user" as const, of: null, by: "Ada" };
const bash = (command: string, agentId?: string) => ({ name: "Bash", input: { command }, thread: null, agentId });
const inSession = (rules: KeptRules, more: Partial<{ id: string; agentId: string; folder: string }> = {}) =>
  rules.rulesOf({ id: "sesn_1", agentId: "agent_1", folder: project, ...more });

test("writing files that the host's hooks run asks", async () => {
  const hook = { name: "check", on: "beforeTool" as const, timeout: 1_000, failure: "block" as const };
  const rules = openWith({ hooks: [{ ...hook, command: ["node", "checks/hook.mjs", "--rules=checks/rules.json"] }] });
  const test = async (call: string) => (await rules.test(call, { mode: "bypassPermissions" })).verdict.action;
  expect(await test("Write(checks/hook.mjs)")).toBe("ask");
  expect(await test("Bash(cp x checks/rules.json)")).toBe("ask");
  expect(await test("Write(checks/other.mjs)")).toBe("allow");
});

describe("stored rules", () => {
  test("are listed once after those of the file until they are removed", async () => {
    const rules = open({ tool: "Bash", pattern: "make *", action: "allow" });
    const kept = await rules.add({ tool: "Bash", pattern: "ls", action: "deny" }, user);
    expect(await rules.add({ tool: "Bash", pattern: "ls", action: "deny" }, user)).toEqual(kept);
    expect(await rules.list()).toEqual([
      expect.objectContaining({ id: null, scope: "project", of: project, source: "tandem.yaml" }),
      kept,
    ]);
    expect(kept).toMatchObject({ source: "Ada", created_at: expect.any(String) });
    await rules.remove(kept.id!);
    expect(await rules.list({ scope: "user", of: null })).toEqual([]);
    await expect(rules.remove(kept.id!)).rejects.toMatchObject({ code: "not_found", fix: expect.any(String) });
  });

  test("are rejected if they cannot be enforced, also in a file", async () => {
    const wrong: Rule = { tool: "Bash", pattern: "a | b", action: "deny" };
    await expect(open().add(wrong, user)).rejects.toMatchObject({ code: "invalid_request" });
    expect(() => open({ tool: "Read", action: "ask" }, wrong)).toThrow(/rules\[1\]/);
    const nowhere = { scope: "agent" as const, of: null, by: "Ada" };
    await expect(open().add({ tool: "Bash", action: "ask" }, nowhere)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  test("apply to their scope", async () => {
    const rules = open();
    const ls = { tool: "Bash", pattern: "ls", action: "deny" } as const;
    const places = [
      { scope: "agent" as const, of: "agent_1" },
      { scope: "session" as const, of: "sesn_1" },
      { scope: "project" as const, of: project },
    ];
    const others = [{ agentId: "agent_2" }, { id: "sesn_2" }, { folder: root }];
    for (const [index, place] of places.entries()) {
      const kept = await rules.add(ls, { ...place, by: "Ada" });
      expect((await inSession(rules)).judge(bash("ls"))?.action).toBe("deny");
      expect((await inSession(rules, others[index])).judge(bash("ls"))).toBeUndefined();
      await rules.remove(kept.id!);
    }
  });

  test("of a project apply in its worktrees", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", project, "-c", "user.name=x", "-c", "user.email=x@y", ...args]);
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "first");
    const worktree = join(root, "worktree");
    git("worktree", "add", "-q", worktree);
    const rules = open();
    const saved = await rules.add(
      { tool: "Bash", pattern: "ls", action: "deny" },
      { scope: "project", of: worktree, by: "Ada" },
    );
    expect(saved.of).toBe(project);
    const inTree = { id: "sesn_tree", folder: worktree };
    expect((await inSession(rules, inTree)).judge(bash("ls"))?.action).toBe("deny");
    expect((await inSession(rules)).judge(bash("ls"))?.action).toBe("deny");
    // The agent can delete the link; the next process still knows the worktree's repository.
    const link = readFileSync(join(worktree, ".git"), "utf8");
    for (const other of [undefined, "gitdir: /nowhere/.git/worktrees/x\n"]) {
      rmSync(join(worktree, ".git"));
      if (other !== undefined) writeFileSync(join(worktree, ".git"), other);
      expect((await inSession(open(), inTree)).judge(bash("ls"))?.action).toBe("deny");
      writeFileSync(join(worktree, ".git"), link);
    }
    await rules.remove(saved.id!);
  });

  test("of a project do not apply in a folder that only claims to be its worktree", async () => {
    const pretender = join(root, "pretender");
    mkdirSync(pretender);
    writeFileSync(join(pretender, ".git"), `gitdir: ${join(project, ".git", "worktrees", "worktree")}\n`);
    const rules = open();
    const saved = await rules.add(
      { tool: "Bash", pattern: "make *", action: "allow" },
      { scope: "project", of: project, by: "Ada" },
    );
    expect((await inSession(rules)).judge(bash("make all"))?.action).toBe("allow");
    expect((await inSession(rules, { folder: pretender })).judge(bash("make all"))?.action).toBeUndefined();
    await rules.remove(saved.id!);
  });

  test("of the caller apply to a subagent, in addition to its own", async () => {
    const rules = open();
    const of = (agent: string) => ({ scope: "agent" as const, of: agent, by: "Ada" });
    const kept = [
      await rules.add({ tool: "Bash", pattern: "ls", action: "deny" }, of("agent_1")),
      await rules.add({ tool: "Bash", pattern: "ls", action: "allow" }, of("agent_2")),
      await rules.add({ tool: "Bash", pattern: "pwd", action: "allow" }, of("agent_1")),
      await rules.add({ tool: "Bash", pattern: "pwd", action: "ask" }, of("agent_2")),
      await rules.add({ tool: "Bash", pattern: "date", action: "allow" }, of("agent_1")),
    ];
    const sessionRules = await inSession(rules);
    expect(sessionRules.judge(bash("ls", "agent_2"))?.action).toBe("deny");
    expect(sessionRules.judge(bash("pwd", "agent_2"))?.action).toBe("ask");
    // The caller's allow rules leave the subagent to its policy.
    expect(sessionRules.judge(bash("date", "agent_2"))).toBeUndefined();
    expect(sessionRules.judge(bash("date"))?.action).toBe("allow");
    for (const { id } of kept) await rules.remove(id!);
  });

  test("apply at once in a running session, also changes by other processes", async () => {
    const [here, there] = [open(), open()];
    const sessionRules = await inSession(here);
    const own = await here.add({ tool: "Bash", pattern: "ls", action: "deny" }, user);
    expect(sessionRules.judge(bash("ls"))?.action).toBe("deny");
    const foreign = await there.add({ tool: "Bash", pattern: "pwd", action: "deny" }, user);
    await here.turnHook.before?.({ message: null, opening: null, startedAt: 0 });
    expect(sessionRules.judge(bash("pwd"))?.action).toBe("deny");
    await there.remove(foreign.id!);
    await there.remove(own.id!);
    await expect
      .poll(() => {
        here.turnHook.observe?.({ type: "event" } as never);
        return sessionRules.judge(bash("ls"));
      })
      .toBeUndefined();
  });

  test("stored rules that cannot be parsed apply to the whole tool, unless they allow", async () => {
    const broken = (id: string, action: string) => ({
      type: "put" as const,
      kind: "rule",
      key: id,
      value: { id, tool: "Bash", pattern: "a | b", action, scope: "user", of: null, source: "x", created_at: null },
    });
    await store.records.write("tandem", [broken("rule_a", "allow"), broken("rule_b", "deny")]);
    const rules = open();
    const sessionRules = await inSession(rules);
    expect(sessionRules.judge(bash("ls"))?.action).toBe("deny");
    await rules.remove("rule_b");
    expect(sessionRules.judge(bash("ls"))).toBeUndefined();
    await rules.remove("rule_a");
  });

  test("stored rules that cannot be applied deny", async () => {
    const sessionRules = await inSession(open());
    const hostile = {
      name: "Bash",
      thread: null,
      input: new Proxy(
        {},
        {
          get: () => {
            throw new Error("No.");
          },
        },
      ),
    };
    expect(sessionRules.judge(hostile)).toMatchObject({ action: "deny", by: "caution" });
    expect(sessionRules.suggest(hostile)).toBeUndefined();
  });
});

test("a call can be tested: the verdict part by part, and the rule that would allow it", async () => {
  const rules = open({ tool: "Bash", pattern: "git status", action: "allow" });
  const tried = await rules.test("Bash(git status && git push)", { folder: project });
  expect(tried.verdict).toMatchObject({ action: "ask", by: "policy" });
  expect(tried.parts.map(({ what, verdict }) => [what, verdict?.action])).toEqual([
    ["`git status`", "allow"],
    ["`git push`", undefined],
  ]);
  expect((await rules.test("Bash(git push)", { folder: project })).suggestion).toEqual({
    tool: "Bash",
    pattern: "git push",
    action: "allow",
  });
  expect((await rules.test("Bash(git push)", { mode: "bypassPermissions" })).verdict).toMatchObject({
    action: "allow",
    by: "mode",
  });
  await expect(rules.test("git push", {})).rejects.toMatchObject({ code: "invalid_request" });
});
