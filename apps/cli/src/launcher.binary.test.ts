import { spawn } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { outcomeOf } from "./testing/open-command.ts";
import { scratchMachine, TANDEM } from "./testing/run-tandem.ts";
import { startUp } from "./testing/session-machine.ts";

const COMMAND = join(dirname(TANDEM), "tandem");
const SYSTEM_PATH = ["/usr/bin", "/bin"].join(delimiter);

/** A machine on which `tandem` is linked twice, as by npm and by a version manager. */
async function linkedMachine() {
  const machine = await scratchMachine();
  const [first, second] = [machine.folder.join("lib", "tandem"), machine.folder.join("bin", "tandem")];
  await mkdir(dirname(first));
  await mkdir(dirname(second));
  await symlink(COMMAND, first);
  await symlink("../lib/tandem", second);
  return {
    ...machine,
    launch: (args: readonly string[], env: Record<string, string> = {}, command = second) =>
      spawn(command, args, { cwd: machine.project, env: { ...machine.variables, ...env } }),
  };
}

test("the command prints its version without a Node", async () => {
  await using machine = await linkedMachine();
  const { code, stdout } = await outcomeOf(machine.launch(["--version"], { PATH: SYSTEM_PATH }));
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${manifest.version}\n` });
});

test("the command passes arguments and the exit code on, through links", async () => {
  await using machine = await linkedMachine();
  expect(await outcomeOf(machine.launch(["no such command"]))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no such command"),
  });
  expect(await outcomeOf(machine.launch(["config", "path", "--help"]))).toMatchObject({ code: 0 });
});

test("without any Node, the command says which one to install", async () => {
  await using machine = await linkedMachine();
  const empty = machine.folder.join("empty");
  await mkdir(empty);
  for (const name of ["readlink", "sed"]) await symlink(`/usr/bin/${name}`, join(empty, name));
  // A copy, because the clone has a Node of its own.
  const copy = machine.folder.join("package", "bin");
  await mkdir(copy, { recursive: true });
  const script = join(copy, "tandem");
  await writeFile(script, await readFile(COMMAND), { mode: 0o755 });
  expect(await outcomeOf(machine.launch(["status"], { PATH: empty }, script))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Install it from https://nodejs.org"),
  });
});

test("the server replaces the command's process, takes its signals, and hides its variables", async () => {
  await using machine = await linkedMachine();
  const secret = "sk-ant-made-up-of-a-launcher";
  const child = machine.launch(["up", "--json", "--port", "0"], { SOME_KEY: secret });
  await using server = await startUp(child);
  const { pid } = JSON.parse(await readFile(join(machine.variables.TANDEM_HOME, "server.json"), "utf8")) as {
    pid: number;
  };
  expect(pid).toBe(child.pid);
  if (process.platform === "linux") {
    const variables = await readFile(`/proc/${pid}/environ`, "utf8");
    expect(variables).not.toContain(secret);
    expect(variables, "plain ones stay").toContain(`HOME=${machine.variables.HOME}`);
  }
  expect(await server.stop("SIGTERM")).toMatchObject({ code: 0 });
});
