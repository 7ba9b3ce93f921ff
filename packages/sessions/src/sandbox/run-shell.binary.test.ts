import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, inject, test } from "vitest";
import { escaping } from "../testing/escaping.ts";
import { runShell } from "./run-shell.ts";

let root: string;
beforeEach(async () => {
  root = await scratchFolder();
});

const run = (command: string, timeoutMs: number) =>
  runShell(command, { folder: root, stateFolder: root, hostVariables: { PATH: process.env["PATH"] ?? "" }, timeoutMs });

test("does not wait for a process that left the group and holds the output", async () => {
  const begun = Date.now();
  expect(await run(`${escaping}; echo hi`, 25_000)).toMatchObject({ exitCode: 0, output: "hi\n" });
  await expect(run(`${escaping}; tail -f /dev/null`, 2_000)).rejects.toThrow("longer than 2 s");
  expect(Date.now() - begun).toBeLessThan(15_000 * inject("slowness"));
  expect(await readdir(join(root, "processes"))).toEqual([]);
});
