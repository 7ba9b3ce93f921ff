import { text, toolUse } from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

test.each(["without a server", "with a server"])(
  "tandem rules adds, lists, explains and removes, %s",
  async (place) => {
    await using machine = await sessionMachine([]);
    await using _ = place === "with a server" ? await machine.up() : undefined;
    const run = (...args: string[]) => machine.run(["rules", ...args]);
    expect((await run("list")).stdout).toContain("No rules.");

    expect((await run("add", "deny", "Bash(rm)", "--reason", "Never")).stdout).toMatch(
      /^deny {2}Bash\(rm\) {2}yours {2}rule_\w+ {2}Never\n$/,
    );
    const added = await run("add", "allow", "Bash(git status)", "--scope", "project", "--json");
    const { rule } = JSON.parse(added.stdout) as { rule: { id: string; scope: string } };
    expect(rule.scope).toBe("project");

    const explained = await run("test", "Bash(git status && rm -rf build)", "--mode", "bypassPermissions");
    expect(explained).toMatchObject({ code: 0 });
    expect(explained.stdout.split("\n\n")).toEqual([
      "deny\n  `rm -rf build` is denied by the user rule Bash(rm) (Never): the command starts with these words.",
      expect.stringMatching(
        /^`git status` {2}allow\n {2}– +deny {3}Bash\(rm\) .*\n {2}matches {2}allow {2}Bash\(git status\)/,
      ),
      expect.stringMatching(/^`rm -rf build` {2}deny\n {2}matches {2}deny {3}Bash\(rm\)/),
    ]);
    const tried = JSON.parse((await run("test", "Bash(npm run test)", "--json")).stdout) as Record<string, unknown>;
    expect(tried).toMatchObject({
      verdict: { action: "ask", by: "caution" },
      suggestion: { tool: "Bash", pattern: "npm run test", action: "allow" },
    });

    expect((await run("remove", rule.id)).stdout).toBe("The rule is removed.\n");
    expect(await run("remove", rule.id)).toMatchObject({ code: 2, stderr: expect.stringContaining("no rule") });
    expect((await run("list")).stdout.trim().split("\n")).toHaveLength(1);
    const wrong = await run("add", "allow", "Bash(a && b)");
    expect(wrong).toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining("one command") });
    expect(wrong.code).not.toBe(0);
    expect(await run("add", "allow", "Bash", "--scope", "user", "--agent", "x")).toMatchObject({ code: 2 });
    expect((await run("test", "git push")).stderr).toContain("is not a call");
  },
);

test("a rule applies to `tandem run --bypass-permissions`", async () => {
  await using machine = await sessionMachine([
    toolUse("Bash", { command: "touch ruled.txt" }),
    toolUse("Bash", { command: "touch free.txt" }),
    text("Done."),
  ]);
  expect((await machine.run(["rules", "add", "deny", "edit(ruled.txt)"])).code).toBe(0);
  expect(await machine.run(["run", "Go on", "--bypass-permissions"])).toMatchObject({
    code: 0,
    stderr: expect.any(String),
  });
  expect(existsSync(machine.folder.join("project", "ruled.txt"))).toBe(false);
  expect(existsSync(machine.folder.join("project", "free.txt"))).toBe(true);
});
