import { once } from "node:events";
import { request } from "node:http";
import { queryPostgres } from "@tandem/storage/testing";
import { SERVERS } from "../lab-machines.ts";
import { FollowedStream } from "./followed-stream.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  headersOf,
  type LabCheck,
  letVanish,
  MODEL,
  newSession,
  say,
  startAgain,
  turnOff,
  until,
  untilIdle,
  urlOf,
} from "./lab-check.ts";

const [ONE, OTHER] = SERVERS;
/** HAProxy notices after two failed checks, at most 4 s. The rest is for the client and a busy machine. */
const SILENCE_MS = 10_000;
const UPLOAD_BYTES = 24_000_000;
const CHUNK_BYTES = 500_000;

/** Any server answers for any session, behind HAProxy and directly. */
export const anyServer: readonly LabCheck[] = [
  {
    name: "a session created at one server is continued, listed and approved at the other",
    async run(context) {
      const [first, second] = [clientAt(context, ONE), clientAt(context, OTHER)];
      const toolset = { type: "agent_toolset_20260401" as const };
      const policy = { default_config: { permission_policy: { type: "always_ask" as const } } };
      const agent = await first.beta.agents.create({ name: "asks", model: MODEL, tools: [{ ...toolset, ...policy }] });
      const environment = await second.beta.environments.create(context.stage.lab.volumeEnvironment);
      const session = await first.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      await say(second, session.id, "Please run a tool.");
      const call = await until("An approval", async () => {
        const idle = (await eventsOf(first, session.id)).findLast(({ type }) => type === "session.status_idle");
        const reason = idle?.["stop_reason"] as { type: string; event_ids?: string[] } | undefined;
        return reason?.type === "requires_action" ? reason.event_ids?.[0] : undefined;
      });
      await second.beta.sessions.events.send(session.id, {
        events: [{ type: "user.tool_confirmation", tool_use_id: call, result: "allow" }],
      });
      const events = await until("The end of the turn", async () => {
        const all = await eventsOf(first, session.id);
        return all.some(({ type }) => type === "agent.tool_result") && all.at(-1)?.type === "session.status_idle"
          ? all
          : undefined;
      });
      expectThat(JSON.stringify(events).includes("ran on"), "The approved call has no result.");
    },
  },
  {
    name: "a file uploaded at one server is read at the other",
    async run(context) {
      const content = `lab ${"x".repeat(100_000)}`;
      const file = await clientAt(context, ONE).beta.files.upload({ file: new File([content], "lab.txt") });
      const read = await clientAt(context, OTHER).beta.files.download(file.id);
      expectThat((await read.text()) === content, "The file differs.");
    },
  },
  {
    name: "a stream behind HAProxy continues with Last-Event-ID after both servers were killed in turn",
    run: streamSurvives,
  },
  {
    name: `a stream behind HAProxy resumes within ${SILENCE_MS / 1_000} s after its server's machine has vanished`,
    run: streamOutlivesSilence,
  },
  { name: "an upload whose server dies half-way leaves no file, and succeeds when it is repeated", run: uploadAgain },
  { name: "ACP over HTTP and WebSocket reaches its worker through any server", run: acpAnywhere },
];

async function streamSurvives(context: CheckContext): Promise<void> {
  const { system } = context.stage;
  const client = clientAt(context, "haproxy");
  const session = await newSession(context, client);
  await using stream = new FollowedStream(context, session);
  await stream.opened();
  for (const server of SERVERS) {
    await until("A message", async () => (await say(client, session, `Hello ${server}.`), true));
    const process = system.processes.find(({ name }) => name === server)!;
    await process.kill();
    await untilIdle(client, session);
    process.launch();
    await system.ready(process);
  }
  await stream.expectWholeLog(client);
}

/** A proxy fails over only if it notices; the machine itself says nothing. */
async function streamOutlivesSilence(context: CheckContext): Promise<void> {
  const client = clientAt(context, "haproxy");
  const session = await newSession(context, client);
  await using stream = new FollowedStream(context, session);
  await stream.opened();
  const times: number[] = [];
  for (const [server, other] of [
    [ONE, OTHER],
    [OTHER, ONE],
  ] as const) {
    const before = stream.opens.length;
    const silentAt = Date.now();
    await letVanish(context, server, async () => {
      await say(clientAt(context, other), session, `Hello without ${server}.`);
      const log = await untilIdle(clientAt(context, other), session);
      await stream.hasLastOf(log);
      const [openedAt] = stream.opens.slice(before);
      if (openedAt !== undefined) times.push(openedAt - silentAt);
    });
    await startAgain(context, server);
  }
  await stream.expectWholeLog(client);
  expectThat(times.length > 0, "The stream was at neither server.");
  expectThat(Math.max(...times) <= SILENCE_MS, `The stream was silent for ${Math.max(...times)} ms.`);
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {} },
};

async function acpAnywhere(context: CheckContext): Promise<void> {
  const post = (server: (typeof SERVERS)[number], body: object, headers: Record<string, string> = {}) =>
    fetch(`${urlOf(server)}/acp`, {
      method: "POST",
      headers: { ...headersOf(context), ...headers },
      body: JSON.stringify(body),
    });
  const begun = await post(ONE, INITIALIZE);
  const connection = begun.headers.get("acp-connection-id") ?? "";
  expectThat(begun.status === 200 && connection !== "", `initialize answered ${begun.status}.`);
  const list = { jsonrpc: "2.0", id: 2, method: "session/list", params: {} };
  const { status } = await post(OTHER, list, { "acp-connection-id": connection });
  expectThat(status === 202, `The other server answered ${status}.`);
  const upgrade = request(`${urlOf("haproxy")}/acp`, {
    headers: {
      ...headersOf(context),
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.from("0123456789abcdef").toString("base64"),
    },
  });
  upgrade.end();
  const [response, socket] = (await Promise.race([
    once(upgrade, "upgrade"),
    once(upgrade, "response").then(([answer]) => [answer, undefined]),
  ])) as [{ statusCode: number }, { destroy(): void } | undefined];
  socket?.destroy();
  expectThat(response.statusCode === 101, `The WebSocket was answered with ${response.statusCode}.`);
}

/** Its machine dies before the last byte, then right after it, when the server may have stored the file or not. */
async function uploadAgain(context: CheckContext): Promise<void> {
  const client = clientAt(context, OTHER);
  const content = Buffer.alloc(UPLOAD_BYTES, "lab");
  const listed = async (name: string): Promise<{ id: string; size_bytes: number }[]> => {
    const files: { id: string; size_bytes: number }[] = [];
    for await (const file of client.beta.files.list()) if (file.filename === name) files.push(file);
    return files;
  };
  for (const [name, share] of [
    ["half.bin", 0.5],
    ["sent.bin", 1],
  ] as const) {
    await beginUpload(context, name, content, share);
    const found = await listed(name);
    const isHalf = found.some((file) => file.size_bytes !== UPLOAD_BYTES) || (share < 1 && found.length > 0);
    expectThat(!isHalf, `After ${share} of the upload, there is ${JSON.stringify(found)}.`);
    // HAProxy answers 502 until it has noticed that the machine is gone.
    const { id } = await until("The repeated upload", () =>
      clientAt(context, "haproxy").beta.files.upload({ file: new File([content], name) }),
    );
    const read = Buffer.from(await (await client.beta.files.download(id)).arrayBuffer());
    expectThat(read.equals(content), `${name} differs from what was uploaded.`);
    expectThat((await listed(name)).length === found.length + 1, `${name} is listed more than once.`);
    await startAgain(context, ONE);
  }
  const orphans = "select count(*) from tandem.file_part where file not in (select id from tandem.file)";
  const [row] = await queryPostgres(context.stage.lab.database.socketUrl, orphans);
  expectThat(Number(row?.["count"]) === 0, `${String(row?.["count"])} parts are left of no file.`);
}

/** Sends a share of a file to a server, whose machine then loses its power. */
async function beginUpload(context: CheckContext, name: string, content: Buffer, share: number): Promise<void> {
  const boundary = "lab-boundary";
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const upload = request(`${urlOf(ONE)}/v1/files`, {
    method: "POST",
    headers: {
      ...headersOf(context),
      "anthropic-beta": "files-api-2025-04-14",
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": head.length + content.length + tail.length,
    },
  });
  const ended = new Promise((resolve) => upload.once("close", resolve));
  upload.on("error", () => undefined).on("response", (answer) => answer.resume());
  upload.write(head);
  for (let sent = 0; sent < content.length * share; sent += CHUNK_BYTES) {
    if (!upload.write(content.subarray(sent, sent + CHUNK_BYTES))) await Promise.race([once(upload, "drain"), ended]);
  }
  if (share === 1) upload.end(tail);
  await turnOff(context, ONE);
  await ended;
}
