import { queryPostgres } from "@tandem/storage/testing";
import { SERVERS } from "../lab-machines.ts";
import {
  type CheckContext,
  expectThat,
  headersOf,
  type LabCheck,
  processOf,
  startAgain,
  until,
  urlOf,
} from "./lab-check.ts";

type Server = (typeof SERVERS)[number] | "haproxy";

const [ONE, OTHER] = SERVERS;
/** `interrupted`: its worker has died, and no other one has taken it yet. */
const UNFINISHED = new Set(["queued", "running", "interrupted"]);
const SCAN = { kind: "scan", params: { connection: "shop" } };

/** The context is on the shared volume: servers have none, and pass requests about it on. */
export const contextAnywhere: readonly LabCheck[] = [
  {
    name: "a context job runs once in the fleet, and another worker resumes it when its machine dies",
    run: jobOnce,
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

async function jobOnce(context: CheckContext): Promise<void> {
  const { model, network } = context;
  const release = model.holdJobs();
  try {
    const begun = await call(context, ONE, "/v1/jobs", SCAN);
    const id = String(begun.body["id"]);
    expectThat(begun.status < 300, `The job was refused: ${JSON.stringify(begun.body)}`);
    await until("The job's request to the model", async () => (model.jobRequests > 0 ? true : undefined));
    const again = await call(context, OTHER, "/v1/jobs", SCAN);
    expectThat(JSON.stringify(again.body).includes("under way"), `A second job: ${JSON.stringify(again.body)}`);
    const machine = await until("The worker of the job", () => holderMachine(context, id));
    await network.killAll(machine as "worker-1");
    await processOf(context, machine).kill();
    release();
    const state = await until("The end of the job", async () => {
      const { body } = await call(context, OTHER, `/v1/jobs/${id}`);
      return UNFINISHED.has(String(body["state"])) ? undefined : String(body["state"]);
    });
    const { body } = await call(context, ONE, `/v1/jobs/${id}/events?limit=100`);
    await startAgain(context, machine);
    const starts = (body["data"] as { event: { type: string; resumed?: boolean } }[]).filter(
      ({ event }) => event.type === "started",
    );
    expectThat(state === "done" || state === "partly", `The job is ${state}.`);
    expectThat(
      starts.map(({ event }) => event.resumed).join() === "false,true",
      `It was started ${starts.length} times: ${JSON.stringify(starts)}`,
    );
  } finally {
    release();
  }
}

async function holderMachine({ stage }: CheckContext, job: string): Promise<string | undefined> {
  const statement = `select lease_holder as holder from tandem.log where session = '${job}'`;
  const [row] = await queryPostgres(stage.lab.database.socketUrl, statement);
  return / on (worker-\d)/.exec(String(row?.["holder"]))?.[1];
}

async function mcpAnywhere(context: CheckContext): Promise<void> {
  const send = (server: Server, body: object, id?: string) =>
    fetch(`${urlOf(server)}/mcp`, {
      method: "POST",
      headers: {
        ...headersOf(context),
        accept: "application/json, text/event-stream",
        ...(id !== undefined && { "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const clientInfo = { name: "lab", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const begun = await send(ONE, { id: 1, method: "initialize", params });
  const id = begun.headers.get("mcp-session-id") ?? "";
  const answer = await begun.text();
  expectThat(begun.status === 200 && id !== "", `initialize answered ${begun.status}: ${answer}`);
  await (await send(ONE, { method: "notifications/initialized" }, id)).text();
  const listTools = async (server: Server): Promise<void> => {
    const answer = await send(server, { id: 2, method: "tools/list", params: {} }, id);
    const text = await answer.text();
    expectThat(
      answer.status === 200 && text.includes("table_describe"),
      `${server} answered ${answer.status}: ${text}`,
    );
  };
  for (const server of [OTHER, "haproxy", "haproxy"] as const) await listTools(server);
  await processOf(context, ONE).kill();
  try {
    await until("The tools behind HAProxy", async () => (await listTools("haproxy"), true));
    await listTools(OTHER);
  } finally {
    await startAgain(context, ONE);
  }
}
