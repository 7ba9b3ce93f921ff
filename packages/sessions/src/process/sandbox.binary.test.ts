import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { whyNoSandbox } from "./sandbox.ts";
import { setEngineStage, the, typesOf, type EngineStage } from "../testing/engine-stage.ts";

let stage: EngineStage;
let programs: string;
beforeEach(async () => {
  stage = await setEngineStage();
  programs = join(stage.root, "bin");
  await mkdir(programs);
});
afterEach(() => stage[Symbol.asyncDispose]());

const variables = (path: string) => ({
  PATH: path,
  HOME: join(stage.root, "home"),
  TMPDIR: stage.root,
  NO_PROXY: "127.0.0.1",
});
const ALLOW = { permission_policy: { type: "always_allow" as const } };
const AGENT = { tools: [{ type: "agent_toolset_20260401" as const, default_config: ALLOW }] };

/** A machine without bubblewrap: PATH has only the programs linked here. */
async function poorMachine() {
  for (const name of ["sh", "bash", "env", "cat", "tail", "touch"]) {
    await symlink(`/bin/${name}`, join(programs, name)).catch(() => undefined);
  }
  return variables(programs);
}

const isLinux = process.platform === "linux";

test.skipIf(!isLinux)("auto, without bubblewrap: commands run without a sandbox, and the log says so", async () => {
  const hostVariables = await poorMachine();
  const running = await stage.open({ sandbox: { mode: "auto" }, hostVariables });
  stage.rehearsal.use([toolUse("Bash", { command: "echo ran" }), text("fine")]);
  const events = await running.turn(await running.session({}, AGENT), "Go.");
  const reason = "bubblewrap and socat are not installed";
  expect(the(events, "tandem.init").sandbox).toEqual({ on: false, reason });
  expect(the(events, "tandem.notice")).toMatchObject({ level: "warning", text: expect.stringContaining(reason) });
  expect(the(events, "agent.tool_result")).toMatchObject({ is_error: false });
});

test.skipIf(!isLinux)("require, without bubblewrap: nothing runs and nothing is spent", async () => {
  const hostVariables = await poorMachine();
  const running = await stage.open({ sandbox: { mode: "require" }, hostVariables });
  stage.rehearsal.use([text("fine")]);
  const events = await running.turn(await running.session({}, AGENT), "Go.");
  expect(the(events, "session.error").error).toMatchObject({
    message: expect.stringContaining("bubblewrap and socat are not installed"),
    tandem: { fix: expect.stringContaining("Install bubblewrap") },
  });
  expect(typesOf(events)).not.toContain("tandem.init");
  expect(stage.rehearsal.modelRequests).toEqual([]);
});

test.skipIf(!isLinux)("a bubblewrap that does not work counts as missing", async () => {
  for (const name of ["bwrap", "socat"]) {
    await writeFile(join(programs, name), "#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n");
    await chmod(join(programs, name), 0o755);
  }
  expect(await whyNoSandbox(variables(`${programs}:/bin`))).toContain("No permissions to create new namespace");
});

const without = await whyNoSandbox(process.env);
test.skipIf(without !== undefined)(
  `on: a command cannot write outside of its folder (${without ?? "there is one"})`,
  async () => {
    const running = await stage.open({
      sandbox: { mode: "require" },
      hostVariables: variables(process.env["PATH"] ?? ""),
    });
    const outside = join(stage.root, "outside.txt");
    stage.rehearsal.use([
      toolUse("Bash", {
        command: `echo inside > inside.txt; echo outside > ${outside}`,
        dangerouslyDisableSandbox: true,
      }),
      text("fine"),
    ]);
    const events = await running.turn(await running.session({}, AGENT), "Go.");
    expect(the(events, "tandem.init").sandbox).toEqual({ on: true });
    expect(await readFile(join(stage.folder, "inside.txt"), "utf8")).toBe("inside\n");
    await expect(readFile(outside)).rejects.toThrow("ENOENT");
  },
);
