import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { checkVersion, TESTED_VERSIONS } from "./check-version.ts";
import { findExecutable } from "./executable.ts";

const folder = await mkdtemp(join(tmpdir(), "tandem-version-"));
afterAll(() => rm(folder, { recursive: true }));

const hostVariables = () => ({ PATH: process.env["PATH"], HOME: folder });
const check = (file: string, deadlineMs?: number) =>
  checkVersion(file, { hostVariables: hostVariables(), ...(deadlineMs && { deadlineMs }) });

async function program(name: string, script: string, mode = 0o755): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, mode);
  return file;
}

test("the bundled binary is the newest tested version", async () => {
  expect(await check(findExecutable(), 60_000)).toEqual({ version: TESTED_VERSIONS.to });
});

test.each([
  ["2.1.325", undefined],
  ["2.1.325-beta.1", undefined],
  ["2.1.326", "newer than 2.1.325"],
  ["2.2.0", "newer than 2.1.325"],
  ["10.0.0", "newer than 2.1.325"],
])("%s is accepted, with a warning if it is newer", async (version, warning) => {
  const file = await program(`claude-${version}`, `echo '${version} (Claude Code)'`);
  const { warning: told } = await check(file, 60_000);
  if (warning) expect(told).toContain(warning);
  else expect(told).toBeUndefined();
});

test.each(["2.1.324", "2.0.400", "1.9.999"])("%s is rejected with a fix", async (version) => {
  const file = await program(`claude-${version}`, `echo '${version} (Claude Code)'`);
  await expect(check(file, 60_000)).rejects.toMatchObject({
    code: "executable_too_old",
    message: expect.stringContaining(`${version}; Tandem needs ${TESTED_VERSIONS.from}`),
    fix: expect.stringContaining("claude update"),
  });
});

test("reports a missing, non-executable, foreign, failing or hanging program as such", async () => {
  const closed = await program("closed", "echo hello", 0o644);
  const other = await program("other", "echo hello");
  const failing = await program("failing", "exit 3");
  const silent = await program("silent", "exec tail -f /dev/null");
  const inside = join(folder, "inside");
  await mkdir(inside);
  const says = (file: string, words: string, deadlineMs = 60_000) =>
    expect(check(file, deadlineMs)).rejects.toMatchObject({
      code: "no_executable",
      message: expect.stringContaining(words),
      fix: expect.stringContaining("--claude-path"),
    });
  await says(join(folder, "nowhere"), "does not exist");
  await says(closed, "may not be executed");
  await says(inside, "may not be executed");
  await says(other, "is not Claude Code");
  await says(failing, "ended with 3");
  const since = performance.now();
  await says(silent, "did not say its version within 0.5 s", 500);
  expect(performance.now() - since).toBeLessThan(10_000 * inject("slowness"));
});

test("keeps the answer of a binary until it changes, and never that of a script", async () => {
  const cacheFile = join(folder, "version.json");
  const ask = (file: string) => checkVersion(file, { hostVariables: hostVariables(), deadlineMs: 60_000, cacheFile });
  const binary = join(folder, "binary");
  await copyFile(findExecutable(), binary);
  const { version } = await ask(binary);
  // The answer comes from the file: another one there is believed.
  const kept = JSON.parse(await readFile(cacheFile, "utf8")) as object;
  await writeFile(cacheFile, JSON.stringify({ ...kept, status: "9.9.9 (Claude Code)" }));
  expect(await ask(binary)).toMatchObject({ version: "9.9.9" });
  await utimes(binary, new Date(), new Date());
  expect(await ask(binary)).toEqual({ version });
  await chmod(binary, 0o644);
  await expect(ask(binary)).rejects.toMatchObject({ code: "no_executable" });
  const script = await program("wrapper", "echo '2.1.325 (Claude Code)'");
  await ask(script);
  await writeFile(script, "#!/bin/sh\necho '2.1.324 (Claude Code)'\n");
  await expect(ask(script)).rejects.toMatchObject({ code: "executable_too_old" });
});
