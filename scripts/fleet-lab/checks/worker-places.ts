import { hideClaudeCode } from "../faults/hide-claude-code.ts";
import { VOLUME_WORKERS } from "../lab-machines.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  headersOf,
  type LabCheck,
  machineOf,
  MODEL,
  newSession,
  processOf,
  say,
  until,
  untilIdle,
  urlOf,
  workersOf,
} from "./lab-check.ts";

const [ONE] = VOLUME_WORKERS;

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
      const notice = `${String(unplaced["needs"])}. ${String(unplaced["fix"])}`;
      expectThat(notice.includes(machine) && notice.includes("tandem up --as worker"), `It says: ${notice}`);
      const files = await fetch(`${urlOf("haproxy")}/v1/sessions/${session.id}/diff`, { headers: headersOf(context) });
      const answer = await files.text();
      expectThat(files.status === 503 && answer.includes(machine), `Its changes: ${files.status} ${answer}`);
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
  for (let count = 0; count < 3; count += 1) {
    const session = await newSession(context, client);
    await say(client, session, "Please run a tool.");
    const events = await untilIdle(client, session);
    const error = events.find(({ type }) => type === "session.error");
    expectThat(error === undefined, `A turn failed: ${JSON.stringify(error)}`);
    const place = machineOf(events);
    expectThat(place !== machine && place !== "nowhere", `A turn ran on ${place}.`);
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
