import { expect, test } from "vitest";
import { DECIDING_NAMES, findDecidingName } from "./deciding-names.ts";

test.each([
  ".git/hooks/pre-commit",
  "a/.claude/settings.json",
  ".mcp.json",
  "sub/tandem.yaml",
  "x/../.git/config",
  "./.GIT/config",
  ".Claude/agents/x.md",
  "TANDEM.YAML",
  ".g\u200cit/config",
  ".\uff27\uff29\uff34/config",
  ".mcp.json.",
  ".git /config",
  ".git::$INDEX_ALLOCATION/config",
  "GIT~1/config",
  "claude~1/settings.json",
  "a\\.git\\config",
])("%j controls which programs run", (path) => expect(findDecidingName(path)).toBeDefined());

test.each([
  "data/input.csv",
  ".gitignore",
  ".github/workflows/ci.yml",
  "claude.md",
  "digit~1",
  "tandem.yaml.md",
  ".",
  "..",
])("%j does not", (path) => expect(findDecidingName(path)).toBeUndefined());

test("no case, ignorable character or position hides a name", () => {
  for (const name of DECIDING_NAMES) {
    for (let at = 0; at <= name.length; at += 1) {
      for (const extra of ["", "\u200b", "\u00ad", "\ufeff", "\u2060"]) {
        const spelled = name.slice(0, at).toUpperCase() + extra + name.slice(at);
        for (const path of [spelled, `a/${spelled}`, `../${spelled}/x`, `./b c/${spelled}/y/z`]) {
          expect(findDecidingName(path)).toBe(spelled);
        }
      }
    }
  }
});
