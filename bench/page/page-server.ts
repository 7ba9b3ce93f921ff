// A helper: the real server, engine and store with a long session, and a scripted stand-in where Claude Code would be.
import type { SessionId } from "@tandem/protocol";
import { z } from "zod";
import { helperTask, say, told } from "../server/helper.ts";
import { setStage } from "../server/stage.ts";
import { longSession } from "./long-session.ts";
import { streamingConversation } from "./streaming-conversation.ts";

const task = helperTask(
  z.object({ folder: z.string(), page: z.string(), parts: z.number(), perSecond: z.number(), seconds: z.number() }),
);
const CHUNK = 500;

const converse = streamingConversation(task, (begunAt, sent) => say({ begunAt, sent }));
const { store, engine, server } = await setStage(task.folder, converse, task.page);
const agent = await engine.agents.create({
  name: "Bookkeeper",
  model: "claude-sonnet-5-5",
  tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
});
const session = await engine.sessions.create({
  agent: agent.id,
  environment_id: "env_local",
  title: "Mend the importer",
});

const lease = (await store.leases.take(session.id as SessionId, "bench-seed", 600_000))!;
const { lines, parts, bytes } = longSession(task.parts);
for (let from = 0; from < lines.length; from += CHUNK)
  await store.events.append(lease, lines.slice(from, from + CHUNK));
await store.leases.release(lease);

const first = lines.find(({ event }) => event.type === "user.message")!.event.id;
say({
  url: server.url,
  links: [await server.signInLink(), await server.signInLink()],
  session: session.id,
  first,
  events: lines.length,
  parts,
  bytes,
});

for (;;) {
  await told("go");
  const content = [{ type: "text" as const, text: "Go on." }];
  await engine.sessions.send(session.id, [{ type: "user.message", content }]);
}
