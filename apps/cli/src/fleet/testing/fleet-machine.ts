import { startRehearsal, type Script } from "@tandem/rehearsal";
import { queryPostgres, startPostgres } from "@tandem/storage/testing";
import { cp, mkdir } from "node:fs/promises";
import type { RunOptions } from "../../testing/run-tandem.ts";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { seedModels } from "../../testing/seed-models.ts";
import { openUp, startUp, type RunningUp, type UpProcess } from "../../testing/session-machine.ts";

const WITH_NEXT_MIGRATION = new URL("with-next-migration.mjs", import.meta.url).href;
const UP = ["up", "--json", "--port", "0"];

/** A machine with a Postgres and several `tandem up` members, each with its own home and state folder. */
export async function fleetMachine(settings = "", { hasJobModel = false } = {}) {
  await using parts = new AsyncDisposableStack();
  const postgres = parts.use(await startPostgres());
  const rehearsal = parts.use(await startRehearsal([]));
  const machine = parts.use(
    await scratchMachine(
      `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" }\n` +
        (hasJobModel
          ? `  provider: { backend: anthropic, anthropic: { apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" } }\n`
          : "") +
        `storage: { url: "env:TEST_DATABASE" }\n${settings}`,
    ),
  );
  await machine.trust();
  await seedModels(machine);
  const running: RunningUp[] = [];
  let database = "";
  let homes = 0;

  async function place(): Promise<RunOptions> {
    homes += 1;
    const home = machine.folder.join("homes", String(homes));
    await mkdir(home, { recursive: true });
    // Each home needs its own copy of the trust files.
    await cp(machine.variables.TANDEM_HOME, `${home}/.tandem`, { recursive: true });
    const own = { HOME: home, TANDEM_HOME: `${home}/.tandem`, CLAUDE_CONFIG_DIR: `${home}/.claude` };
    return { env: { ...own, SESSION_KEY: "sk-ant-made-up", TEST_DATABASE: database } };
  }

  const track = <U extends RunningUp>(up: U): U => {
    running.push(up);
    return up;
  };

  const owned = parts.move();
  return {
    rehearsal,
    postgres,
    get database() {
      return database;
    },
    folder: machine.folder.path,
    place,
    run: (args: readonly string[], options?: RunOptions) => machine.run(args, options),
    /** Empties the database while no process uses it. */
    async reset(script: Script): Promise<void> {
      await Promise.all(running.splice(0).map((up) => up[Symbol.asyncDispose]()));
      database = await postgres.createDatabase();
      rehearsal.use(script);
    },
    /** A member in this process. */
    async up(...args: string[]): Promise<RunningUp> {
      return track(await openUp(machine.open([...UP, ...args], await place())));
    },
    /** A member in its own process, for tests that kill or halt it. */
    async upProcess(...args: string[]): Promise<UpProcess> {
      return track(await startUp(machine.start([...UP, ...args], await place())));
    },
    /** The same for a program that knows one more migration, and so stands for the next release. */
    async upNextRelease(...args: string[]): Promise<UpProcess> {
      const { env } = await place();
      const options = { env: { ...env, NODE_OPTIONS: `--import=${WITH_NEXT_MIGRATION}` } };
      return track(await startUp(machine.start([...UP, ...args], options)));
    },
    /** Another build of `tandem`. Each start of a `machine` has the same home, with that build's own trust. */
    async upBuild(tandem: string, home: RunOptions, ...args: string[]): Promise<UpProcess> {
      const { code, stderr } = await machine.runProcess(["trust"], { ...home, tandem });
      if (code !== 0) throw new Error(stderr);
      return track(await startUp(machine.start([...UP, ...args], { ...home, tandem })));
    },
    /** Reads the database directly. */
    query: (statement: string) => queryPostgres(database, statement),
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((up) => up[Symbol.asyncDispose]()));
      await owned.disposeAsync();
    },
  };
}
