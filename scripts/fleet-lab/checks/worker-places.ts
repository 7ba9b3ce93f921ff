import { hideClaudeCode } from "../hide-claude-code.ts";
import { VOLUME_WORKERS } from "../lab-machines.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  type LabCheck,
  say,
  until,
  untilIdle,
  workersOf,
} from "./lab-check.ts";

const MODEL = "claude-sonnet-5-5";
const [ONE] = VOLUME_WORKERS;

const processOf = ({ stage }: CheckContext, machine: string) =>
  stage.system.processes.find(({ name }) => name === machine)!;

/** Where sessions run, and what they say if they cannot. */
export const workerPlaces: readonly LabCheck[] = [
  {
    name: "a session on a private disk says where it is while its machine is away, and continues when it is back",
    async run(context) {
      const client = clientAt(context, "haproxy");
      const agent = await client.beta.agents.create({ name: "private", model: MODEL });
      const environment = await client.beta.environments.create({ name: "private" });
      const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      await say(client, session.id, "Hello.");
      await untilIdle(client, session.id);
      const place = await placeOf(context, session.id);
      const machine = place.slice("machine:".length);
      const process = processOf(context, machine);
      await process.stop();
      await say(client, session.id, "Are you there?");
      const unplaced = await until("tandem.unplaced", async () =>
        (await eventsOf(client, session.id)).find(({ type }) => type === "tandem.unplaced"),
      );
      expectThat(String(unplaced["needs"]).includes(machine), `It says: ${String(unplaced["needs"])}`);
      process.launch();
      await context.stage.system.ready(process);
      await untilIdle(client, session.id);
    },
  },
  {
    name: "a worker with a full disk takes no work, says so, and takes work again when there is room",
    async run(context) {
      const disk = context.stage.lab.disks.get(ONE);
      if (disk === undefined || typeof disk === "string") return;
      await disk.fill();
      try {
        await takesNoWork(context, ONE, /the disk of .* is full/);
      } finally {
        await disk.free();
      }
      await takesWorkAgain(context, ONE);
    },
  },
  {
    name: "a worker whose Claude Code is missing takes no work, says so, and takes work again when it is back",
    async run(context) {
      const hidden = await hideClaudeCode(processOf(context, ONE).pid!);
      try {
        await takesNoWork(context, ONE, /Claude Code is missing/);
      } finally {
        await hidden[Symbol.asyncDispose]();
      }
      await takesWorkAgain(context, ONE);
    },
  },
];

async function takesNoWork(context: CheckContext, machine: string, problem: RegExp): Promise<void> {
  await until(`The problem of ${machine}`, async () => {
    const row = (await workersOf(context)).find((worker) => worker.machine === machine && worker.state === "live");
    return row?.problem != null && problem.test(row.problem) ? row.problem : undefined;
  });
  const client = clientAt(context, "haproxy");
  const agent = await client.beta.agents.create({ name: "placed", model: MODEL });
  const environment = await client.beta.environments.create(context.stage.lab.volumeEnvironment);
  for (let count = 0; count < 3; count += 1) {
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    await say(client, session.id, "Where are you?");
    const events = await untilIdle(client, session.id);
    expectThat(
      !JSON.stringify(events).includes("session.error"),
      `A turn failed: ${JSON.stringify(events.find(({ type }) => type === "session.error"))}`,
    );
    const said = events.findLast(({ type }) => type === "agent.message");
    expectThat(said !== undefined, "There is no answer.");
  }
}

async function takesWorkAgain(context: CheckContext, machine: string): Promise<void> {
  await until(`${machine} without a problem`, async () => {
    const row = (await workersOf(context)).find((worker) => worker.machine === machine && worker.state === "live");
    return row && !row.problem ? true : undefined;
  });
}

async function placeOf(context: CheckContext, session: string): Promise<string> {
  const { queryPostgres } = await import("@tandem/storage/testing");
  const rows = await queryPostgres(
    context.stage.lab.database.socketUrl,
    `select place from tandem.session where id = '${session}'`,
  );
  return String(rows[0]?.["place"]);
}
