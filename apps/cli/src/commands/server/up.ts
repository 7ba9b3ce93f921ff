import { closeTimeOf, openTandem } from "@tandem/tandem";
import { probeLogin } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { FleetOptions } from "@tandem/tandem/fleet";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { once } from "node:events";
import type { Invocation } from "../../invocation.ts";
import { toPort } from "../../number-options.ts";
import { Progress } from "../../progress.ts";
import { announce } from "../../server/announce.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";
import { DEMO_CHOICES, type DemoChoice, FLEET_ROLE_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .option("--port <number>", "the port to listen on; 0 takes a free one (default: server.port, 4760)")
    .addOption(
      new Option("--demo [when]", "have a rehearsed agent answer: always, or only without a Claude login")
        .choices(DEMO_CHOICES)
        .preset("always"),
    )
    .addOption(
      new Option(
        "--as <role>",
        "in a fleet: only answer and stream, or only run turns and jobs (default: fleet.role, all)",
      ).choices(FLEET_ROLE_CHOICES),
    )
    .option("--label <name=value...>", "what environments can ask for, beside fleet.labels")
    .option("--max-sessions <number>", "sessions that are held at once at most (default: fleet.maxSessions, 20)")
    .option(
      "--machine <name>",
      "what this machine is called (default: TANDEM_MACHINE, fleet.machine, else the host's name)",
    )
    .option("--tenant <id...>", "take only sessions of these tenants (default: fleet.tenants, else all)")
    .option(
      "--advertise <url>",
      "where others of the fleet reach this process (default: fleet.advertise, else loopback)",
    )
    .addOption(json())
    .action((options: UpOptions, self: Command) => runner(self, (invocation) => up(invocation, options)));
  examples(
    command,
    "tandem up",
    "tandem up --port 0 --json",
    "tandem up --demo",
    "tandem up --as worker --max-sessions 8 --label gpu=yes",
  );
}

const PROBE_MS = 10_000;

export interface UpOptions extends FleetOptions {
  port?: string;
  demo?: DemoChoice | true;
}

/** Runs the server until it should stop. */
export async function up(invocation: Invocation, options: UpOptions): Promise<number> {
  const port = options.port === undefined ? undefined : toPort(options.port);
  const project = await openProjectOrDefaults(invocation);
  using progress = new Progress(invocation, "Starting …");
  await using demo = (await isDemoWanted(invocation, project, options.demo)) ? await startDemo() : undefined;
  invocation.allowToStop(closeTimeOf(project));
  await using tandem = await openTandem({
    ...invocation,
    project,
    port,
    fleet: options,
    demo: demo?.credential,
    // On a terminal, log lines would scroll the address away. `tandem logs` shows them.
    log: invocation.stdout.isTTY ? undefined : (line) => invocation.stderr.write(line),
  });
  progress[Symbol.dispose]();
  const { info, member, engine, warning, logFile, stopRequested } = tandem;
  // A worker's page is not meant for users.
  const link = member?.role === "worker" ? undefined : await tandem.signInLink();
  const stopWithinMs = project.config.server.stopWithin;
  await using _ = await announce(invocation, { info, link, member, engine, warning, logFile, stopWithinMs });
  if (!stopRequested.aborted) await once(stopRequested, "abort");
  return 0;
}

/** Uses the demo only on request. `if-needed` uses it only without a login. */
async function isDemoWanted(invocation: Invocation, project: Project, demo: UpOptions["demo"]): Promise<boolean> {
  if (demo !== "if-needed") return demo !== undefined;
  if (project.config.llm.claudeCode.auth !== "login") return false;
  const { state } = await probeLogin(invocation, project, PROBE_MS);
  return state === "logged_out" || state === "expired";
}

const startDemo = async () => (await import("../../demo/start-demo.ts")).startDemo();
