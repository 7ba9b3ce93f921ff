import type { DemoOptions } from "@tandem/tandem";
import { tandemHome } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { openDemoHome } from "./seed/demo-home.ts";
import { startDemo } from "./start-demo.ts";

export interface Demo extends AsyncDisposable {
  options: DemoOptions;
  host: Pick<Invocation, "cwd" | "env" | "project">;
}

/** Opens the demo's own home and starts its scripted model. Clients find the server in the user's TANDEM_HOME. */
export async function openDemo({ env }: Pick<Invocation, "env">): Promise<Demo> {
  const { project, env: own } = await openDemoHome(env);
  const model = await startDemo();
  return {
    options: { credential: model.credential, clientHome: tandemHome(env) },
    host: { cwd: project, project, env: own },
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}
