import { SERVERS } from "../lab-machines.ts";
import { type CheckContext, expectThat, type LabCheck, processOf, startAgain, until } from "./lab-check.ts";
import { McpClient } from "./mcp-client.ts";

const CLIENTS = 4;
const REQUESTS = 4;

/** Servers with a context hold the sessions of their MCP clients themselves. */
export const stickyMcp: readonly LabCheck[] = [
  {
    name: "with a context on the servers, HAProxy keeps an MCP client at its server, and a dead server's client begins again",
    run: stayAndBeginAgain,
  },
];

async function stayAndBeginAgain(context: CheckContext): Promise<void> {
  const clients = Array.from({ length: CLIENTS }, () => new McpClient(context));
  for (const client of clients) await client.begin("haproxy");
  for (let count = 0; count < REQUESTS; count += 1) {
    for (const client of clients) await client.listTools("haproxy");
  }
  const [client] = clients;
  if (!client) return;
  const statuses = await Promise.all(SERVERS.map(async (server) => (await client.askForTools(server)).status));
  expectThat(statuses.includes(200) && statuses.includes(404), `The servers answered ${statuses.join()}.`);
  const owner = SERVERS[statuses.indexOf(200)]!;
  await processOf(context, owner).kill();
  try {
    await until("404 for the session of the dead server", async () => {
      const { status } = await client.askForTools("haproxy");
      return status === 404 ? true : undefined;
    });
    await client.begin("haproxy");
    await client.listTools("haproxy");
  } finally {
    await startAgain(context, owner);
  }
  await client.listTools("haproxy");
}
