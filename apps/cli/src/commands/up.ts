import { closeTimeOf, openTandem } from "@tandem/tandem";
import { probeLogin } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { FleetOptions } from "@tandem/tandem/fleet";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { once } from "node:events";
import type { Context } from "../context.ts";
import type { DemoChoice } from "../option-choices.ts";
import { toPort } from "../port.ts";
import { Progress } from "../progress.ts";
import { announce } from "../server/announce.ts";

const PROBE_MS = 10_000;

export interface UpOptions extends FleetOptions {
  port?: string;
  demo?: DemoChoice | true;
}

/** Runs the server until it is asked to stop. */
export async function up(context: Context, options: UpOptions): Promise<number> {
  const port = options.port === undefined ? undefined : toPort(options.port);
  const project = await openProjectOrDefaults(context);
  using progress = new Progress(context, "Starting …");
  await using demo = (await isDemoWanted(context, project, options.demo)) ? await startDemo() : undefined;
  context.allowToStop(closeTimeOf(project));
  await using tandem = await openTandem({
    ...context,
    project,
    port,
    fleet: options,
    demo: demo?.credential,
    // On a terminal, log lines would scroll the address away; `tandem logs` shows them.
    log: context.stdout.isTTY ? undefined : (line) => context.stderr.write(line),
  });
  progress[Symbol.dispose]();
  const { info, member, engine, warning, logFile, stopRequested } = tandem;
  // People do not use the page of a worker.
  const link = member?.role === "worker" ? undefined : await tandem.signInLink();
  const stopWithinMs = project.config.server.stopWithin;
  await using _ = await announce(context, { info, link, member, engine, warning, logFile, stopWithinMs });
  if (!stopRequested.aborted) await once(stopRequested, "abort");
  return 0;
}

/** A demo takes the model's place only where that was asked for, and `if-needed` only where there is no login to use. */
async function isDemoWanted(context: Context, project: Project, demo: UpOptions["demo"]): Promise<boolean> {
  if (demo !== "if-needed") return demo !== undefined;
  if (project.config.llm.claudeCode.auth !== "login") return false;
  const { state } = await probeLogin(context, project, PROBE_MS);
  return state === "logged_out" || state === "expired";
}

const startDemo = async () => (await import("../demo/start-demo.ts")).startDemo();
