// npm run fleet-lab: a fleet on machines made of network namespaces, with faults. See --help.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LabNetwork, removeLeftLabs } from "./fleet-lab/lab-network.ts";
import { whyNoLab } from "./fleet-lab/why-no-lab.ts";

const HELP = `npm run fleet-lab -- [options]

Builds a fleet of machines from network namespaces: two servers behind HAProxy, three workers, one Postgres. Checks
test promises one by one. Then clients work in sessions while links are cut and processes die, and the observer of the crash
tests judges what it saw. Needs Linux and root.

  --faults NUMBER    how many faults to inject (default 20; 0 for none)
  --only KIND,KIND   only these kinds of faults
  --work KIND,KIND   only this work of clients: talk, tool, approval, custom, interrupt
  --checks PATTERN   only checks whose name matches; none for no checks (default all)
  --figures          only measures: turns per second, event lag, cost of a turn, takeover time
  --seed NUMBER      repeats the choices of an earlier run
  --takeover TIME    sessions.takeover of the fleet (default 10s, as in the product)
  --pgbouncer        statements go through PgBouncer in transaction mode
  --json             prints the report as JSON
  --logs             prints the log of each session with a violation
  --clean            removes what killed runs have left, and ends
  --help             prints this text

Exit codes: 0 no violation, 1 violations, 2 wrong usage, 3 this machine cannot build a lab, 130 cancelled.`;

const CANNOT = 3;
/** Given to the second process, which runs in the machine \`client\`. */
const INSIDE = "TANDEM_LAB_ID";

const readArguments = () =>
  parseArgs({
    options: {
      faults: { type: "string", default: "20" },
      only: { type: "string" },
      work: { type: "string" },
      checks: { type: "string", default: "" },
      figures: { type: "boolean", default: false },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      takeover: { type: "string", default: "10s" },
      pgbouncer: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      logs: { type: "boolean", default: false },
      clean: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  }).values;
const values = parsed();

function parsed(): ReturnType<typeof readArguments> {
  try {
    return readArguments();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)} See --help.`);
    process.exit(2);
  }
}

if (values.help) console.log(HELP);
else if (process.env[INSIDE] !== undefined) {
  const { runLab } = await import("./fleet-lab/run-lab.ts");
  process.exitCode = await runLab(new LabNetwork(process.env[INSIDE]), values);
} else process.exitCode = await main();

async function main(): Promise<number> {
  const reason = await whyNoLab({ hasPgBouncer: values.pgbouncer });
  if (reason !== undefined) {
    console.error(`This machine cannot build a lab: ${reason.problem}. ${reason.fix}`);
    return CANNOT;
  }
  if (values.clean) {
    const left = await removeLeftLabs();
    console.log(left.length === 0 ? "Nothing is left of earlier labs." : `Removed: ${left.join(", ")}.`);
    return 0;
  }
  const id = randomBytes(2).toString("hex");
  const folder = await mkdtemp(join(tmpdir(), `tandem-lab-${id}-`));
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
  const network = new LabNetwork(id);
  try {
    await LabNetwork.create(id, folder);
    return await runInside(network, folder, stopping.signal);
  } finally {
    await network.remove();
  }
}

/** Clients, model and observer run in a machine of the lab. */
async function runInside(network: LabNetwork, folder: string, signal: AbortSignal): Promise<number> {
  await chmod(folder, 0o755);
  const args = ["netns", "exec", network.nameOf("client"), process.execPath, ...process.argv.slice(1)];
  const child = spawn("/usr/sbin/ip", args, {
    env: { ...process.env, [INSIDE]: network.id, TMPDIR: folder },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
  });
  const exited = once(child, "exit");
  const stop = (): void => void child.kill("SIGTERM");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const [code] = (await exited) as [number | null];
  return signal.aborted ? 130 : (code ?? 1);
}
