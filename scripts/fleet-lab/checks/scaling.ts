import type Anthropic from "@anthropic-ai/sdk";
import { VOLUME_WORKERS } from "../lab-machines.ts";
import { stepsFile } from "./check-model.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  headersOf,
  type LabCheck,
  linesOf,
  machineOf,
  newSession,
  processOf,
  say,
  startAgain,
  until,
  untilIdle,
  urlOf,
  workersOf,
} from "./lab-check.ts";

/** Longer than a drain, which a worker notices within two seconds. */
const STEPS = 16;
const SESSIONS = 3;
const BEGUN = 2;

/** Workers come and go in the middle of turns. Every step of a turn happens once. */
export const scaling: readonly LabCheck[] = [
  {
    name: "a session on the shared volume moves to another worker with its next message",
    async run(context) {
      const client = clientAt(context, "haproxy");
      const session = await newSession(context, client);
      const runTool = async (): Promise<string> => {
        await say(client, session, "Please run a tool.");
        return machineOf(await untilIdle(client, session));
      };
      const machine = await runTool();
      await processOf(context, machine).stop();
      const next = await runTool();
      await startAgain(context, machine);
      expectThat(
        next !== machine && VOLUME_WORKERS.some((one) => one === next),
        `It ran on ${machine}, then on ${next}.`,
      );
    },
  },
  {
    name: "a drained worker hands over its turns between two steps, and exits",
    run: (context) => leave(context, "drain", drain),
  },
  {
    name: "a worker that is taken away in the middle of turns hands them over",
    run: (context) => leave(context, "down", async (machine) => void (await processOf(context, machine).stop())),
  },
  { name: "turns wait while there is no worker, and continue while workers are added", run: scaleUp },
];

async function drain(machine: string, context: CheckContext): Promise<void> {
  const worker = (await workersOf(context)).find((row) => row.machine === machine && row.state === "live");
  const path = `${urlOf("haproxy")}/v1/fleet/workers/${worker?.id}/drain`;
  const before = processOf(context, machine).pid;
  const { status } = await fetch(path, { method: "POST", headers: headersOf(context), body: "{}" });
  expectThat(status < 300, `The request to drain ${machine} was answered with ${status}.`);
  // The lab starts it again when it has exited.
  await until(`The exit of ${machine}`, async () => (processOf(context, machine).pid === before ? undefined : true));
}

/** Work on two workers, of which one leaves. */
async function leave(
  context: CheckContext,
  name: string,
  takeAway: (machine: string, context: CheckContext) => Promise<void>,
): Promise<void> {
  const client = clientAt(context, "haproxy");
  const works = await beginSteps(context, client, name);
  const [machine = ""] = await machinesOf(context, works[0]!.name);
  using _excuse = context.stage.system.excuse();
  await takeAway(machine, context);
  await expectSteps(context, client, works);
  await startAgain(context, machine);
  for (const { name, session } of works) {
    const [first, ...machines] = new Set(await machinesOf(context, name));
    if (first !== machine) continue;
    const hasEvent = (await eventsOf(client, session)).some(({ type }) => type === "tandem.handover");
    expectThat(hasEvent && machines.length > 0, `${name} was not handed over: it ran on ${first} ${machines.join()}.`);
  }
}

/** From no worker to one, and to two in the middle of turns. */
async function scaleUp(context: CheckContext): Promise<void> {
  const client = clientAt(context, "haproxy");
  const [first, second] = VOLUME_WORKERS;
  const waiting = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(context, client)));
  for (const machine of VOLUME_WORKERS) await processOf(context, machine).stop();
  const works = waiting.map((session, index) => ({ name: `up-${index}`, session }));
  for (const { name, session } of works) await sayTakeSteps(client, session, name);
  for (const { session } of works) {
    await until("tandem.unplaced", async () =>
      (await eventsOf(client, session)).find(({ type }) => type === "tandem.unplaced"),
    );
  }
  await startAgain(context, first);
  await untilBegun(context, works);
  await startAgain(context, second!);
  await expectSteps(context, client, works);
}

interface Work {
  name: string;
  session: string;
}

/** Resolves when every session is in the middle of its steps. */
async function beginSteps(context: CheckContext, client: Anthropic, prefix: string): Promise<Work[]> {
  const works: Work[] = [];
  for (let number = 1; number <= SESSIONS; number += 1) {
    const work = { name: `${prefix}-${number}`, session: await newSession(context, client) };
    await sayTakeSteps(client, work.session, work.name);
    works.push(work);
  }
  await untilBegun(context, works);
  return works;
}

const sayTakeSteps = (client: Anthropic, session: string, name: string): Promise<void> =>
  say(client, session, `Please take ${STEPS} steps in ${name}.`);

async function untilBegun(context: CheckContext, works: readonly Work[]): Promise<void> {
  for (const { name } of works) {
    await until(`Step ${BEGUN} of ${name}`, async () =>
      (await machinesOf(context, name)).length >= BEGUN ? true : undefined,
    );
  }
}

async function expectSteps(context: CheckContext, client: Anthropic, works: readonly Work[]): Promise<void> {
  for (const { name, session } of works) {
    await untilIdle(client, session);
    const events = await eventsOf(client, session);
    const [lines, calls] = [
      await machinesOf(context, name),
      events.filter(({ type }) => type === "agent.tool_use").length,
    ];
    expectThat(!events.some(({ type }) => type === "session.error"), `The turn of ${name} failed.`);
    expectThat(
      lines.length === STEPS && calls === STEPS,
      `${name}: ${lines.length} steps and ${calls} calls of ${STEPS}.`,
    );
  }
}

/** The machines on which the steps ran. */
const machinesOf = (context: CheckContext, name: string): Promise<string[]> => linesOf(context, stepsFile(name));
