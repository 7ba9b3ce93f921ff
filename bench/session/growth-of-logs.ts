import { z } from "zod";
import { readFrames } from "@tandem/client";
import type { UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { cpuSeconds } from "../runtime/process-tree.ts";
import { fastest, type Growth } from "./growth.ts";
import { storeSessions } from "./many-sessions.ts";
import { restingPss, startServer } from "./server-start.ts";
import type { Stage } from "./stage.ts";

const EVENTS_PER_TURN = 12;
/** The kernel counts CPU in steps of 10 ms. */
const CPU_TRIES = 20;
const page = z.object({ data: z.array(z.unknown()), next_page: z.string().nullish() });

/** Runs `work` with a server that has these sessions. Its start counts by CPU, which other programs disturb less. */
async function withSessions(
  stage: Stage,
  { sessions, turns }: { sessions: number; turns: number },
  work: (server: UpProcess, ids: readonly string[]) => Promise<Record<string, number>>,
): Promise<Record<string, number>> {
  await using machine = await stage.machine();
  const ids = await storeSessions(machine.home, sessions, turns);
  // The first start after a load may also tidy the database.
  await (await startServer(machine)).server.stop();
  const { server, cpuSeconds = 0 } = await startServer(machine);
  await using running = server;
  const found = await work(running, ids);
  const { tree } = await restingPss(running);
  await running.stop();
  return { "start, CPU ms": cpuSeconds * 1_000, ...found, "memory at rest afterwards, MiB": tree.value };
}

/** One session whose log grows. */
export const growthOfEvents: Growth = {
  of: "events",
  sizes: [100, 1_000, 10_000],
  measure: (stage, size) =>
    withSessions(stage, { sessions: 1, turns: Math.ceil(size / EVENTS_PER_TURN) }, async (server, [id]) => ({
      "open: last messages, ms": await fastest(() => get(server, `/v1/sessions/${id}/messages`)),
      "retrieve the session, ms": await fastest(() => get(server, `/v1/sessions/${id}`)),
      "list all events, CPU ms": await cpuOf(server, () => getAll(server, `/v1/sessions/${id}/events?limit=1000`)),
      "stream all events, ms": await fastest(() => stream(server, id!, size)),
      "stream all events, CPU ms": await cpuOf(server, () => stream(server, id!, size)),
    })),
};

/** Stored sessions of one turn each. */
export const growthOfSessions: Growth = {
  of: "sessions",
  sizes: [10, 100, 1_000],
  measure: (stage, size) =>
    withSessions(stage, { sessions: size, turns: 1 }, async (server, ids) => ({
      "first page of the list, ms": await fastest(() => get(server, "/v1/sessions?limit=10")),
      "whole list, ms": await fastest(() => getAll(server, "/v1/sessions?limit=100")),
      "open one: last messages, ms": await fastest(() => get(server, `/v1/sessions/${ids[0]}/messages`)),
    })),
};

/** The server's CPU, in milliseconds. */
async function cpuOf({ child }: UpProcess, work: () => Promise<void>): Promise<number> {
  const before = cpuSeconds(child.pid!);
  for (let index = 0; index < CPU_TRIES; index += 1) await work();
  return ((cpuSeconds(child.pid!) - before) / CPU_TRIES) * 1_000;
}

async function request({ url, token }: UpProcess, path: string, headers?: Record<string, string>): Promise<Response> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

export const get = async (server: UpProcess, path: string): Promise<unknown> => (await request(server, path)).json();

async function getAll(server: UpProcess, path: string): Promise<void> {
  for (let next: string | null | undefined = ""; next !== null && next !== undefined;) {
    const found: z.infer<typeof page> = page.parse(await get(server, next ? `${path}&page=${next}` : path));
    next = found.next_page;
  }
}

async function stream(server: UpProcess, session: string, events: number): Promise<void> {
  const path = `/v1/sessions/${session}/events/stream?tandem=true`;
  const { body } = await request(server, path, { "last-event-id": "0" });
  let seen = 0;
  for await (const { data } of readFrames(body!)) {
    if (data !== "") seen += 1;
    if (seen >= events) return;
  }
  throw new Error(`The stream ended after ${seen} events.`);
}
