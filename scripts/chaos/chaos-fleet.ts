import { startRehearsal, type Script } from "@tandem/rehearsal";
import { startPostgres } from "@tandem/storage/testing";
import { cp, mkdir } from "node:fs/promises";
import { scratchMachine } from "../../apps/cli/src/testing/run-tandem.ts";
import { SupervisedProcess } from "./supervised-process.ts";

export interface MemberPlan {
  name: string;
  /** Whether clients connect to it. */
  isServer: boolean;
  /** Arguments of `tandem up`. */
  args: readonly string[];
  /** Another build of `tandem` that it starts with. */
  tandem?: string;
}

export type ChaosFleet = Awaited<ReturnType<typeof createChaosFleet>>;

/**
 * A fleet on one machine: a Postgres, a rehearsal as the model, and processes that share only these and the sessions' folder.
 * Each has its own home. None is started yet.
 */
export async function createChaosFleet(
  plans: readonly MemberPlan[],
  { settings, script }: { settings: string; script: (project: string) => Script },
) {
  await using parts = new AsyncDisposableStack();
  const postgres = parts.use(await startPostgres());
  const database = await postgres.createDatabase();
  const rehearsal = parts.use(await startRehearsal());
  const machine = parts.use(
    await scratchMachine(
      `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" }\n` +
        `storage: { url: "env:TEST_DATABASE" }\n${settings}`,
    ),
  );
  await machine.trust();
  rehearsal.use(script(machine.project));
  const members = plans.map(({ name, isServer, args, tandem: first }) => {
    const home = machine.folder.join("homes", name);
    const env = {
      HOME: home,
      TANDEM_HOME: `${home}/.tandem`,
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      SESSION_KEY: "sk-ant-made-up",
      TEST_DATABASE: database,
    };
    const start = (tandem: string | undefined) =>
      machine.start(["up", "--json", "--port", "0", ...args], { env, ...(tandem !== undefined && { tandem }) });
    return new SupervisedProcess({ name, isServer, home, tandem: first }, start);
  });
  for (const { home } of members) {
    await mkdir(home, { recursive: true });
    // Trust is stored per home.
    await cp(machine.variables.TANDEM_HOME, `${home}/.tandem`, { recursive: true });
  }
  parts.defer(async () => void (await Promise.all(members.map((member) => member.retire("SIGKILL")))));
  const held = parts.move();
  return {
    postgres,
    database,
    rehearsal,
    members,
    folder: machine.folder.path,
    project: machine.project,
    [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
  };
}
