import { outcomeOf } from "../../apps/cli/src/testing/open-command.ts";
import { cpuSeconds, treeCpuSeconds } from "../runtime/process-tree.ts";
import type { Measurement } from "./measurement.ts";
import { timed, type Sample } from "./sample.ts";
import type { InstalledMachine } from "./stage.ts";

/** A command from its start to its exit. */
async function timeCommand(machine: InstalledMachine, args: readonly string[]): Promise<Sample> {
  const before = exitedChildrenCpu();
  const { value } = await timed(async () => {
    const child = machine.start(args);
    child.stdin?.end();
    const { code, stderr } = await outcomeOf(child);
    if (code !== 0) throw new Error(`tandem ${args.join(" ")} exited with ${code}: ${stderr}`);
  });
  return { value, cpuSeconds: exitedChildrenCpu() - before };
}

function exitedChildrenCpu(): number {
  const { user, system } = process.cpuUsage();
  return cpuSeconds(process.pid) - (user + system) / 1_000_000;
}

/** One turn by the command, in a folder that the running server knows. */
export const runCommand: Measurement<"run"> = {
  rows: {
    run: { what: "`tandem run` of one turn beside a running server", unit: "ms", target: { of: "bare", atMost: 0.6 } },
  },
  async open(stage) {
    const machine = await stage.machine();
    const server = await machine.up();
    return {
      async round() {
        const before = treeCpuSeconds(server.child.pid);
        const { value, cpuSeconds: own = 0 } = await timeCommand(machine, ["run", "Hello."]);
        return { run: { value, cpuSeconds: own + treeCpuSeconds(server.child.pid) - before } };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await machine[Symbol.asyncDispose]();
      },
    };
  },
};

const COMMANDS = { version: "--version", help: "--help", status: "status" } as const;
type CommandKey = keyof typeof COMMANDS;

const commandRow = (key: CommandKey, atMost: number) =>
  ({ what: `\`tandem ${COMMANDS[key]}\``, unit: "ms", target: { of: "absolute", atMost } }) as const;

/** Commands that people and scripts run often. `status` without a running server. */
export const commands: Measurement<CommandKey> = {
  rows: { version: commandRow("version", 100), help: commandRow("help", 200), status: commandRow("status", 500) },
  async open(stage) {
    // With a backend, so that `status` finds nothing to complain about.
    const machine = await stage.machine("  provider: { backend: claude-code }\n");
    const one = (key: CommandKey): Promise<Sample> => timeCommand(machine, [COMMANDS[key]]);
    return {
      round: async () => ({ version: await one("version"), help: await one("help"), status: await one("status") }),
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    };
  },
};
