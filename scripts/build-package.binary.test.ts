import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scratchMachine } from "../apps/cli/src/testing/run-tandem.ts";
import { startUp } from "../apps/cli/src/testing/session-machine.ts";
import { buildPackage } from "./build-package.ts";

const root = join(import.meta.dirname, "..");
let folder: string;
let tandem: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-package-"));
  await buildPackage(join(folder, "tandem"));
  // The dependencies that npm would install beside it.
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  tandem = join(folder, "tandem", "bin", "tandem.mjs");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the package declares its dependencies, and none of the workspace", async () => {
  const manifest = JSON.parse(await readFile(join(folder, "tandem", "package.json"), "utf8")) as {
    bin: object;
    dependencies: Record<string, string>;
  };
  expect(manifest.bin).toEqual({ tandem: "bin/tandem.mjs" });
  expect(Object.keys(manifest.dependencies)).toContain("@anthropic-ai/claude-agent-sdk");
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@tandem/"))).toEqual([]);
  expect(Object.values(manifest.dependencies).every((version) => /^\d/.test(version))).toBe(true);
});

test("it calls models, with its own threads and processes", async () => {
  await using machine = await scratchMachine();
  const calls = await machine.runProcess(["demo"], { tandem });
  expect({ code: calls.code, stderr: calls.stderr }).toEqual({ code: 0, stderr: "" });
  expect(calls.stdout).toContain("Claude Code processes still running: 0");
});

test("it scans, ingests documents with its skills, and searches", async () => {
  await using machine = await scratchMachine();
  const { code, stdout } = await machine.runProcess(["demo", "context", "shop"], { tandem });
  expect(stdout).toContain("tandem proposals accept last");
  expect(code).toBe(0);
});

test("it serves the page", async () => {
  await using machine = await scratchMachine();
  await using server = await startUp(machine.start(["up", "--demo", "--json", "--port", "0"], { tandem }));
  const page = await fetch(server.url);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("<title>Tandem</title>");
});
