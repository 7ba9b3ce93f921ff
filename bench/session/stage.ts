import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { seedModels } from "../../apps/cli/src/testing/seed-models.ts";
import { startUp, type UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { Helper } from "../server/helper.ts";
import { benchMachine } from "../server/machine.ts";
import { BareCalls } from "./bare-calls.ts";
import { installPackage, type InstalledPackage } from "./installed-package.ts";

const KEY = "sk-ant-made-up";

/** The installed package, the scripted model in a process of its own, and bare calls to compare with. */
export interface Stage extends AsyncDisposable {
  installed: InstalledPackage;
  bare: BareCalls;
  /** For files of measurements. Removed at the end. */
  folder: string;
  /** A new home and project. */
  machine(settings?: string): Promise<InstalledMachine>;
}

export interface InstalledMachine extends AsyncDisposable {
  project: string;
  home: string;
  start(args: readonly string[], by?: Starter): ChildProcess;
  up(by?: Starter): Promise<UpProcess>;
}

/** `command`: as users type it, on a machine with an older Node if there is one. `node`: by Node 24, without the launcher. */
export type Starter = "command" | "node";

export async function setStage(built?: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-session-"));
  console.error(built === undefined ? "building the package …" : `installing ${built} …`);
  const installed = await installPackage(folder, built);
  const model = new Helper("../session/model.ts", {}, folder);
  const { url } = await model.hear(z.object({ url: z.string() }));
  const bare = new BareCalls(url, folder);
  return {
    installed,
    bare,
    folder,
    machine: (settings) => installedMachine(installed, url, settings),
    async [Symbol.asyncDispose]() {
      await bare[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

async function installedMachine(
  installed: InstalledPackage,
  modelUrl: string,
  settings?: string,
): Promise<InstalledMachine> {
  const machine = await benchMachine(modelUrl, settings);
  await seedModels(machine);
  // Users have no compile cache but the one of the launcher.
  const { NODE_COMPILE_CACHE: _, ...variables } = machine.variables;
  const { command, script, node, oldNode = node } = installed;
  const start = (args: readonly string[], by: Starter = "command"): ChildProcess => {
    const [program, ...words] = by === "node" ? [node, script] : [command];
    return spawn(program, [...words, ...args], {
      cwd: machine.project,
      env: { ...variables, SESSION_KEY: KEY, PATH: `${dirname(by === "node" ? node : oldNode)}:${variables.PATH}` },
      stdio: ["pipe", "pipe", "pipe"],
    });
  };
  return {
    project: machine.project,
    home: variables.TANDEM_HOME,
    start,
    up: (by) => startUp(start(["up", "--json", "--port", "0"], by)),
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  };
}
