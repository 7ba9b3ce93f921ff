import type { Rehearsal, Script } from "@tandem/rehearsal";
import { startRehearsal } from "@tandem/rehearsal";
import { startPostgres, type TestPostgres } from "@tandem/storage/testing";
import { cp, mkdir } from "node:fs/promises";
import { scratchMachine } from "../../apps/cli/src/testing/run-tandem.ts";
import { FleetMember } from "./fleet-member.ts";

export interface FleetPlan {
  /** Arguments of `tandem up` for each process, under a name of its own. */
  members: readonly { name: string; args: readonly string[]; isServer: boolean }[];
  /** More lines of the project's `tandem.yaml`. */
  settings: string;
}

/**
 * A fleet on one machine: a Postgres, a rehearsal for a model, and processes that share nothing but these and the folder
 * that sessions work in. Each has a home of its own.
 */
export class FleetStage implements AsyncDisposable {
  readonly postgres: TestPostgres;
  readonly database: string;
  readonly rehearsal: Rehearsal;
  readonly members: readonly FleetMember[];
  readonly folder: string;
  readonly #machine: Awaited<ReturnType<typeof scratchMachine>>;

  private constructor(
    postgres: TestPostgres,
    database: string,
    rehearsal: Rehearsal,
    machine: Awaited<ReturnType<typeof scratchMachine>>,
    members: readonly FleetMember[],
  ) {
    this.postgres = postgres;
    this.database = database;
    this.rehearsal = rehearsal;
    this.#machine = machine;
    this.members = members;
    this.folder = machine.folder.path;
  }

  static async set(plan: FleetPlan, script: (folder: string) => Script): Promise<FleetStage> {
    await using parts = new AsyncDisposableStack();
    const postgres = parts.use(await startPostgres());
    const database = await postgres.createDatabase();
    const rehearsal = parts.use(await startRehearsal());
    const machine = parts.use(
      await scratchMachine(
        `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" }\n` +
          `storage: { url: "env:TEST_DATABASE" }\n${plan.settings}`,
      ),
    );
    await machine.trust();
    rehearsal.use(script(machine.folder.path));
    const members: FleetMember[] = [];
    for (const { name, args, isServer } of plan.members) {
      const home = machine.folder.join("homes", name);
      await mkdir(home, { recursive: true });
      await cp(machine.variables.TANDEM_HOME, `${home}/.tandem`, { recursive: true });
      const env = {
        HOME: home,
        TANDEM_HOME: `${home}/.tandem`,
        CLAUDE_CONFIG_DIR: `${home}/.claude`,
        SESSION_KEY: "sk-ant-made-up",
        TEST_DATABASE: database,
      };
      members.push(
        new FleetMember(name, isServer, () => machine.start(["up", "--json", "--port", "0", ...args], { env })),
      );
    }
    parts.move();
    return new FleetStage(postgres, database, rehearsal, machine, members);
  }

  get servers(): FleetMember[] {
    return this.members.filter(({ isServer }) => isServer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.retire("SIGKILL")));
    await this.rehearsal.close();
    await this.postgres[Symbol.asyncDispose]();
    await this.#machine[Symbol.asyncDispose]();
  }
}
