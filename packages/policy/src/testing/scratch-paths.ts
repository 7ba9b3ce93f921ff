import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyRules } from "../rules/apply-rules.ts";
import type { SessionPaths } from "../rules/path-pattern.ts";
import { readCall } from "../rules/read-call.ts";
import { compiled } from "./made-up-rules.ts";

/** A project with secrets and links. */
export function scratchPaths() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tandem-patterns-")));
  const paths: SessionPaths = {
    folder: join(root, "project"),
    home: join(root, "home"),
    foldsCase: false,
    state: join(root, "home/.tandem"),
    secrets: [join(root, "home/.claude/.credentials.json"), join(root, "home/.claude.json")],
    hookFiles: [join(root, "project/check/hook.mjs")],
  };
  for (const folder of [
    "project/src/deep",
    "project/secrets",
    "project/.git",
    "home/.claude",
    "home/code",
    "home/.tandem",
    "outside",
  ]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(paths.folder, "secrets/key"), "");
  writeFileSync(join(paths.folder, ".env"), "");
  symlinkSync("secrets", join(paths.folder, "shortcut"));
  symlinkSync("../outside", join(paths.folder, "way-out"));
  symlinkSync("secrets/not-there-yet", join(paths.folder, "dangling"));
  symlinkSync("loop", join(paths.folder, "loop"));
  return {
    paths,
    /** The action that rules give for a call; `-` if none matches. */
    say: (call: string, ...rules: string[]): string =>
      applyRules(compiled(paths, ...rules), readCall(call), paths).verdict?.action ?? "-",
    remove: () => rmSync(root, { recursive: true }),
  };
}
