// A helper: clients of many sessions. Each listens to its session, previews included, and says something whenever it is idle.
import { z } from "zod";
import { readFrames } from "@tandem/client";
import { helperTask } from "./helper.ts";
import { nowUs } from "./stamp.ts";
import { measureTalk, talkTask, type Talk } from "./talk.ts";

const frame = z.union([
  z.object({ type: z.literal("event_delta"), delta: z.object({ content: z.object({ text: z.string() }) }) }),
  z.object({ type: z.literal("event_start") }),
  z.object({ type: z.string(), processed_at: z.string() }),
]);
const created = z.object({ id: z.string() });

const task = helperTask(z.object({ ...talkTask.shape, url: z.string(), token: z.string() }));
const headers = { authorization: `Bearer ${task.token}`, "content-type": "application/json" };

const agent = await create("/v1/agents", {
  name: "bench",
  model: "claude-sonnet-5-5",
  tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
});
await measureTalk(task, converse);

async function converse(talk: Talk): Promise<void> {
  const session = await create("/v1/sessions", { agent, environment_id: "env_local" });
  const path = `/v1/sessions/${session}/events`;
  const response = await fetch(`${task.url}${path}/stream?event_deltas[]=agent.message`, { headers });
  if (!response.ok || !response.body) throw new Error(`The stream was refused with ${response.status}.`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let askedAt: number | undefined;
  const ask = async (): Promise<void> => {
    askedAt = nowUs();
    await post(path, { events: [{ type: "user.message", content: [{ type: "text", text: "Go on." }] }] });
  };
  const listen = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const { data } of readFrames(chunks)) {
      const happening = frame.parse(JSON.parse(data));
      if ("delta" in happening) {
        talk.heard(happening.delta.content.text, askedAt);
        askedAt = undefined;
        resolve();
      }
      if (!("processed_at" in happening)) continue;
      // To the millisecond, by the wall's clock.
      talk.events.add((Date.now() - Date.parse(happening.processed_at)) * 1_000);
      if (happening.type === "session.error") throw new Error(data);
      if (happening.type !== "session.status_idle") continue;
      talk.turns += 1;
      if (!talk.isOver) await ask();
    }
  };
  listen(response.body).catch((error: unknown) => {
    if (!talk.isOver) console.error(error);
    reject(error);
  });
  await ask();
  await promise;
}

async function create(path: string, body: object): Promise<string> {
  return created.parse(await (await post(path, body)).json()).id;
}

async function post(path: string, body: object): Promise<Response> {
  const response = await fetch(`${task.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}
