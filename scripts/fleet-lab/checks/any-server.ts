import { once } from "node:events";
import { readFrames } from "@tandem/client";
import { SERVERS } from "../lab-machines.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  headersOf,
  type LabCheck,
  MODEL,
  say,
  until,
  untilIdle,
  urlOf,
} from "./lab-check.ts";

const [ONE, OTHER] = SERVERS;

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
  { name: "ACP over HTTP and WebSocket reaches its worker through any server", run: acpAnywhere },
];

async function streamSurvives(context: CheckContext): Promise<void> {
  const { system, lab } = context.stage;
  const client = clientAt(context, "haproxy");
  const agent = await client.beta.agents.create({ name: "talks", model: MODEL });
  const environment = await client.beta.environments.create(lab.volumeEnvironment);
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const ids: string[] = [];
  let after: string | undefined;
  const ending = new AbortController();
  const follow = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        const response = await fetch(`${urlOf("haproxy")}/v1/sessions/${session.id}/events/stream`, {
          headers: { ...headersOf(context), ...(after !== undefined && { "last-event-id": after }) },
          signal: ending.signal,
        });
        if (!response.ok || !response.body) throw new Error(`The stream was refused with ${response.status}.`);
        for await (const { id, data } of readFrames(response.body)) {
          if (id === undefined) continue;
          after = id;
          ids.push((JSON.parse(data) as { id: string }).id);
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const following = follow();
  await until("The stream", async () => (await fetch(`${urlOf("haproxy")}/healthz`)).ok || undefined);
  for (const server of SERVERS) {
    await until("A message", async () => (await say(client, session.id, `Hello ${server}.`), true));
    const process = system.processes.find(({ name }) => name === server)!;
    await process.kill();
    await untilIdle(client, session.id);
    process.launch();
    await system.ready(process);
  }
  const log = await eventsOf(client, session.id);
  await until("The last event on the stream", async () => (ids.includes(log.at(-1)!.id) ? true : undefined), 20_000);
  ending.abort();
  await following;
  const places = ids.map((id) => log.findIndex((event) => event.id === id));
  expectThat(
    places.every((place, index) => index === 0 || place > places[index - 1]!),
    "The stream repeated or swapped events.",
  );
  // A stream leaves out the events that only Tandem has, unless it is asked for them.
  const skipped = log.slice(places[0]).filter(({ id, type }) => DELIVERED.test(type) && !ids.includes(id));
  expectThat(skipped.length === 0, `The stream skipped ${skipped.map(({ id, type }) => `${type} ${id}`).join(", ")}`);
}

const DELIVERED = /^(agent\.(message|.*tool)|session\.status_)/;
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
  // Node's WebSocket has no headers; the protocol allows the token as subprotocol for none. HTTP's upgrade is enough here.
  const { request } = await import("node:http");
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
