import { SERVERS } from "../lab-machines.ts";
import {
  type CheckContext,
  expectThat,
  headersOf,
  holderMachine,
  type LabCheck,
  machineNamed,
  processOf,
  startAgain,
  turnOff,
  until,
  urlOf,
} from "./lab-check.ts";
import { McpClient, type Server } from "./mcp-client.ts";

const [ONE, OTHER] = SERVERS;
/** `interrupted`: its worker has died, and no other one has taken it yet. */
const UNFINISHED = new Set(["queued", "running", "interrupted"]);
const SCAN = { kind: "scan", params: { connection: "shop" } };

/** The context is on the shared volume: servers have none, and pass requests about it on. */
export const contextAnywhere: readonly LabCheck[] = [
  {
    name: "a context job runs once in the fleet, and another worker resumes it when its machine dies",
    run: (context) => jobOnce(context, crash),
  },
  {
    name: "a context job runs once in the fleet although its worker loses the database for longer than its lease",
    run: (context) => jobOnce(context, cutFromDatabase),
  },
  { name: "an MCP client continues at another server, also after its own one was killed", run: mcpAnywhere },
];

async function call(context: CheckContext, server: Server, path: string, body?: object) {
  const response = await fetch(`${urlOf(server)}${path}`, {
    headers: headersOf(context),
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

interface Interruption {
  context: CheckContext;
  /** The worker of the job. */
  machine: string;
  id: string;
  /** Lets the model answer. */
  release: () => void;
}

async function crash({ context, machine, release }: Interruption): Promise<void> {
  await turnOff(context, machine);
  release();
}

/** The worker waits for the model while another one takes the job; then both get their answers. */
async function cutFromDatabase({ context, machine, id, release }: Interruption): Promise<void> {
  const { links, stage } = context;
  await using _cuts = new AsyncDisposableStack();
  for (const to of stage.lab.databases) _cuts.use(await links.cut({ from: machineNamed(machine), to }));
  await until("The second start", async () =>
    (await jobEvents(context, id)).filter(({ type }) => type === "started").length > 1 ? true : undefined,
  );
  release();
  await endOf(context, id);
}

interface JobEvent {
  type: string;
  resumed?: boolean;
}

async function jobEvents(context: CheckContext, id: string): Promise<JobEvent[]> {
  const { body } = await call(context, ONE, `/v1/jobs/${id}/events?limit=100`);
  return (body["data"] as { event: JobEvent }[]).map(({ event }) => event);
}

const endOf = (context: CheckContext, id: string): Promise<string> =>
  until("The end of the job", async () => {
    const { body } = await call(context, OTHER, `/v1/jobs/${id}`);
    return UNFINISHED.has(String(body["state"])) ? undefined : String(body["state"]);
  });

async function jobOnce(context: CheckContext, interrupt: (how: Interruption) => Promise<void>): Promise<void> {
  const { model } = context;
  const before = model.jobRequests;
  const release = model.holdJobs();
  try {
    const begun = await call(context, ONE, "/v1/jobs", SCAN);
    const id = String(begun.body["id"]);
    expectThat(begun.status < 300, `The job was refused: ${JSON.stringify(begun.body)}`);
    await until("The job's request to the model", async () => (model.jobRequests > before ? true : undefined));
    const again = await call(context, OTHER, "/v1/jobs", SCAN);
    expectThat(JSON.stringify(again.body).includes("under way"), `A second job: ${JSON.stringify(again.body)}`);
    const machine = await until("The worker of the job", () => holderMachine(context, id));
    await interrupt({ context, machine, id, release });
    await startAgain(context, machine);
    const state = await endOf(context, id);
    expectThat(state === "done" || state === "partly", `The job is ${state}.`);
    const types = (await jobEvents(context, id)).map(({ type, resumed }) => (type === "started" ? `${resumed}` : type));
    const starts = types.filter((type) => type === "false" || type === "true");
    expectThat(starts.join() === "false,true", `It was started ${starts.length} times: ${types.join()}`);
    const ends = types.filter((type) => type === "ended");
    expectThat(ends.length === 1, `It ended ${ends.length} times: ${types.join()}`);
  } finally {
    release();
  }
}

async function mcpAnywhere(context: CheckContext): Promise<void> {
  const client = new McpClient(context);
  await client.begin(ONE);
  for (const server of [OTHER, "haproxy", "haproxy"] as const) await client.listTools(server);
  await processOf(context, ONE).kill();
  try {
    await until("The tools behind HAProxy", async () => (await client.listTools("haproxy"), true));
    await client.listTools(OTHER);
  } finally {
    await startAgain(context, ONE);
  }
}
