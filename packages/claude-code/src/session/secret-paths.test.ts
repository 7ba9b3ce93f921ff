import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { secretPaths } from "./secret-paths.ts";

test("a sandbox hides Tandem's folder and credentials, but not the session's own folder", () => {
  const home = mkdtempSync(join(tmpdir(), "tandem-secret-paths-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const stateFolder = join(home, ".tandem");
  for (const name of ["claude-code", "scratch/s1", "checkpoints"])
    mkdirSync(join(stateFolder, name), { recursive: true });
  writeFileSync(join(stateFolder, "tandem.db"), "");
  const hidden = secretPaths({
    stateFolder,
    folder: join(stateFolder, "scratch/s1"),
    hostVariables: { HOME: home, CLAUDE_CONFIG_DIR: join(home, "elsewhere") },
  });
  expect(hidden.toSorted()).toEqual(
    [
      join(stateFolder, "checkpoints"),
      join(stateFolder, "tandem.db"),
      join(stateFolder, "token"),
      ...[".credentials.json", ".claude.json", ".config.json"].flatMap((name) => [
        join(stateFolder, "claude-code", name),
        join(home, ".claude", name),
        join(home, "elsewhere", name),
      ]),
      join(home, ".claude.json"),
    ].toSorted(),
  );
});

test("a tenant's sandbox also hides the operator's folder and other tenants", () => {
  const operator = mkdtempSync(join(tmpdir(), "tandem-secret-paths-"));
  onTestFinished(() => rmSync(operator, { recursive: true }));
  const stateFolder = join(operator, "tenants", "acme");
  const project = join(stateFolder, "project");
  for (const folder of [project, join(operator, "tenants", "zeta"), join(operator, "tandem.tenants")]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(join(operator, "token"), "");
  const hidden = secretPaths({
    stateFolder,
    folder: project,
    hostVariables: { HOME: join(stateFolder, "home"), TANDEM_TRUST_HOME: operator },
  });
  for (const path of ["token", "tandem.tenants", "tenants/zeta", "tenants/acme/token"]) {
    expect(hidden).toContain(join(operator, path));
  }
  expect(hidden.filter((path) => `${project}/`.startsWith(`${path}/`))).toEqual([]);
  // The operator's login is there.
  expect(hidden).toContain(join(homedir(), ".claude", ".credentials.json"));
});
