import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const BUILD =
  'import { buildPackage } from "./scripts/build-package.ts"; await buildPackage(`${process.cwd()}/node_modules/.cache/package`);';

/**
 * The command of an earlier commit's package. Builds it once, from this clone's history and the npm registry, into a
 * temporary folder; `TANDEM_OLDER_BUILDS` names another one. Not below `node_modules`, where Node runs no TypeScript.
 */
export function olderBuild(commit: string): { command: string } | { missing: string } {
  const folder = join(process.env["TANDEM_OLDER_BUILDS"] ?? join(tmpdir(), "tandem-older-builds"), commit);
  const command = join(folder, "node_modules/.cache/package/bin/tandem.mjs");
  if (existsSync(command)) return { command };
  const run = (program: string, args: readonly string[], cwd = folder): void =>
    void execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  try {
    run("git", ["cat-file", "-e", `${commit}^{commit}`], root);
  } catch {
    return { missing: `commit ${commit} is not in this clone` };
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run("sh", ["-c", 'git archive "$0" | tar x -C "$1"', commit, folder], root);
  try {
    run("npm", ["ci", "--no-audit", "--no-fund"]);
  } catch (error) {
    return { missing: `npm could not install commit ${commit}: ${String(error).slice(0, 500)}` };
  }
  run(process.execPath, ["--input-type=module", "--eval", BUILD]);
  return { command };
}
