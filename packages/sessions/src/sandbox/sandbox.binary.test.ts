import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the, typesOf, type EngineStage } from "../testing/engine-stage.ts";

let stage: EngineStage;
beforeEach(async () => {
  stage = await setEngineStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

/** A machine on which bubblewrap does not work. */
async function poorMachine(): Promise<Record<string, string>> {
  const programs = join(stage.root, "bin");
  await mkdir(programs);
  await writeFile(join(programs, "bwrap"), "#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n");
  await chmod(join(programs, "bwrap"), 0o755);
  const path = `${programs}:${process.env["PATH"]}`;
  return { PATH: path, HOME: join(stage.root, "home"), TMPDIR: stage.root, NO_PROXY: "127.0.0.1" };
}

const REASON = "The kernel or the container forbids user namespaces.";
const isLinux = process.platform === "linux";

test.skipIf(!isLinux)(
  "auto, on a machine without a sandbox: the session runs without one, and the log says so",
  async () => {
    const running = await stage.open({ sandbox: { mode: "auto" }, hostVariables: await poorMachine() });
    stage.rehearsal.use([toolUse("Bash", { command: "echo ran" }), text("fine")]);
    const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
    expect(the(events, "tandem.init").sandbox).toMatchObject({ on: false, reason: REASON });
    expect(the(events, "tandem.notice")).toMatchObject({ level: "warning", text: expect.stringContaining(REASON) });
    expect(the(events, "agent.tool_result")).toMatchObject({ is_error: false });
  },
);

test.skipIf(!isLinux)("require, on a machine without a sandbox: nothing runs and nothing is spent", async () => {
  const running = await stage.open({ sandbox: { mode: "require" }, hostVariables: await poorMachine() });
  stage.rehearsal.use([text("fine")]);
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  expect(the(events, "session.error").error).toMatchObject({
    message: expect.stringContaining(REASON),
    tandem: { fix: expect.stringContaining("seccomp profile") },
  });
  expect(typesOf(events)).not.toContain("tandem.init");
  expect(stage.rehearsal.modelRequests).toEqual([]);
});
