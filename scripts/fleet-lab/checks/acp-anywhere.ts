import { setTimeout as sleep } from "node:timers/promises";
import { SERVERS, WORKERS } from "../lab-machines.ts";
import { type AcpConnection, HttpAcp, SocketAcp } from "./acp-connection.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  type LabCheck,
  letVanish,
  processOf,
  startAgain,
  until,
} from "./lab-check.ts";

/** A server without its worker hears nothing more, and must close the editor's connection. */
const NOTICE_MS = 60_000;

/** Editors behind HAProxy, whose server or worker dies while an approval is open. */
export const acpAnywhere: readonly LabCheck[] = [
  { name: "ACP over HTTP continues with Last-Event-ID after both servers were killed in turn", run: overHttp },
  { name: "ACP over a WebSocket loads its session after its server was killed", run: overSocket },
  {
    name: `editors notice within ${NOTICE_MS / 1_000} s that their worker's machine has vanished`,
    run: noticeSilence,
  },
];

async function begin(context: CheckContext, connection: AcpConnection): Promise<string> {
  const cwd = context.stage.lab.projectFolder;
  const { sessionId } = await connection.answer(await connection.ask("session/new", { cwd, mcpServers: [] }));
  return String(sessionId);
}

const prompt = (connection: AcpConnection, sessionId: string): Promise<number> =>
  connection.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "Please run a tool." }] }, sessionId);

async function overHttp(context: CheckContext): Promise<void> {
  using connection = await HttpAcp.open(context);
  const session = await begin(context, connection);
  connection.listen(session);
  const asked = await prompt(connection, session);
  const question = await connection.question(session);
  for (const server of SERVERS) {
    const before = connection.breaks;
    await processOf(context, server).kill();
    await sleep(1_000);
    await startAgain(context, server);
    console.error(`  ${connection.breaks - before} streams were at ${server}.`);
  }
  expectThat(connection.breaks > 0, "No stream was at a server that died.");
  await connection.allow(question, session);
  const { stopReason } = await connection.answer(asked);
  expectThat(stopReason === "end_turn", `The turn ended with ${String(stopReason)}.`);
  await expectRun(context, session);
  const ids = connection.eventIds;
  expectThat(new Set(ids).size === ids.length, `Events were repeated: ${ids.join()}`);
}

async function overSocket(context: CheckContext): Promise<void> {
  using connection = await SocketAcp.open(context);
  const session = await begin(context, connection);
  await prompt(connection, session);
  await connection.question(session);
  for (const server of SERVERS) {
    await processOf(context, server).kill();
    await sleep(1_000);
    await startAgain(context, server);
  }
  await until("The end of the WebSocket", async () => (connection.isOpen ? undefined : true));
  using next = await until("A new WebSocket", () => SocketAcp.open(context));
  const cwd = context.stage.lab.projectFolder;
  await next.answer(await next.ask("session/load", { sessionId: session, cwd, mcpServers: [] }));
  await next.allow(await next.question(session), session);
  await expectRun(context, session);
}

/** The allowed call ran once, and its turn has ended. */
async function expectRun(context: CheckContext, session: string): Promise<void> {
  const client = clientAt(context, "haproxy");
  const events = await until("The end of the turn", async () => {
    const all = await eventsOf(client, session);
    const last = all.findLast(({ type }) => type.startsWith("session.status_"));
    const { type } = (last?.["stop_reason"] ?? {}) as { type?: string };
    return type === "end_turn" ? all : undefined;
  });
  const results = events.filter(({ type }) => type === "agent.tool_result");
  expectThat(
    results.length === 1 && JSON.stringify(results).includes("ran on"),
    `The call has ${results.length} results: ${JSON.stringify(results)}`,
  );
}

/** All workers vanish in turn: one of them has the connections. */
async function noticeSilence(context: CheckContext): Promise<void> {
  using http = await HttpAcp.open(context);
  using socket = await SocketAcp.open(context);
  await until("The stream", async () => (http.breaks === 0 ? true : undefined));
  for (const worker of WORKERS) {
    const isDone = () => http.breaks > 0 && !socket.isOpen;
    if (isDone()) break;
    await letVanish(context, worker, async () => {
      const deadline = Date.now() + NOTICE_MS;
      while (!isDone() && Date.now() < deadline) await sleep(200);
    });
    await startAgain(context, worker);
  }
  expectThat(http.breaks > 0, "The stream of ACP over HTTP is still open.");
  expectThat(!socket.isOpen, "The WebSocket is still open.");
}
