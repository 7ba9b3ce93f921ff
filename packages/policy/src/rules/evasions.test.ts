import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { applyRules } from "./apply-rules.ts";
import { decideCall } from "./decide-call.ts";
import type { SessionPaths } from "./path-pattern.ts";
import { EVASIONS } from "../testing/evasions.ts";
import { compiled } from "../testing/made-up-rules.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tandem-evasions-")));
const paths: SessionPaths = {
  folder: join(root, "project"),
  home: join(root, "home"),
  foldsCase: false,
  state: join(root, "home/.tandem"),
  secrets: [join(root, "home/.claude/.credentials.json"), join(root, "home/.claude.json")],
};
mkdirSync(join(paths.home, ".claude"), { recursive: true });
mkdirSync(join(paths.folder, "sub"), { recursive: true });
writeFileSync(join(paths.folder, "protected.txt"), "as it was");
writeFileSync(join(paths.folder, "victim.txt"), "here");
symlinkSync("protected.txt", join(paths.folder, "link-to-protected"));
afterAll(() => rmSync(root, { recursive: true }));

const rules = compiled(paths, "allow Bash(git status)", "deny Bash(rm)", "deny edit(protected.txt)");

/** Decides a command in a session that bypasses permissions. */
const verdictOn = (command: string) => {
  const call = { name: "Bash", input: { command }, thread: null };
  const { verdict } = applyRules(rules, call, paths);
  return decideCall(call, { policy: { permission: "allow" }, verdict, mode: "bypassPermissions", paths }).verdict;
};

test.each(EVASIONS)("%j is denied or asked for", (command) => {
  const { action, why } = verdictOn(command);
  expect(action, why).not.toBe("allow");
});

test.each([
  "git status",
  "git status 2>&1",
  "git status > /dev/null",
  "timeout 10 git status",
  "ls -la",
  "cat protected.txt",
  "echo rm",
  "mkdir -p sub/x && touch sub/x/y",
  "cp victim.txt copy.txt",
  "grep -rn x sub | head -5",
])("%j is allowed", (command) => {
  const { action, why } = verdictOn(command);
  expect(action, why).toBe("allow");
});

test("the list keeps at least 120 evasions", () => {
  expect(new Set(EVASIONS).size).toBeGreaterThanOrEqual(120);
});
