import { tandemHome } from "@tandem/tandem/config";
import { accessSync, constants, existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { isWithin } from "../../sessions/find-session.ts";
import { PROJECT, STATE, unpackSeed } from "./unpack-seed.ts";

type Variables = Invocation["env"];

/**
 * The demo has a folder of its own beside TANDEM_HOME, so that its data never mixes with real sessions. It is inside where
 * the user may not create folders beside it, as in a container.
 */
export function demoFolder(env: Variables): string {
  const home = tandemHome(env);
  const beside = `${home}-demo`;
  try {
    if (!existsSync(beside)) accessSync(dirname(home), constants.W_OK);
    return beside;
  } catch {
    return join(home, "demo");
  }
}

/** The demo's variables in its folder, else those of the command. */
export async function demoVariables({ cwd, env }: Pick<Invocation, "cwd" | "env">): Promise<Variables> {
  const folder = demoFolder(env);
  if (!existsSync(folder)) return env;
  const demo = await openDemoHome(env);
  return isWithin(demo.project, await realpath(cwd)) ? demo.env : env;
}

/** Opens the demo's folder. Creates it on the first start. */
export async function openDemoHome(env: Variables): Promise<{ project: string; env: Variables }> {
  const folder = demoFolder(env);
  if (!existsSync(folder)) await unpackSeed(folder);
  const real = await realpath(folder);
  return {
    project: join(real, PROJECT),
    // The database of DATABASE_URL has the user's own sessions.
    env: { ...env, TANDEM_HOME: join(real, STATE), DATABASE_URL: undefined },
  };
}
