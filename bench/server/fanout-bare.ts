// A helper: the peer. Nothing but node:http, which writes the same frames to all who listen and keeps none of them.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@tandem/protocol";
import { fanoutTask, WORDS } from "./fanout-task.ts";
import { helperTask, say, told } from "./helper.ts";
import { pace } from "./pace.ts";
import { stamp } from "./stamp.ts";

const task = helperTask(fanoutTask);
const clients = new Set<ServerResponse>();
const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
  response.flushHeaders();
  clients.add(response);
  response.on("close", () => clients.delete(response));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
say({ port: (server.address() as AddressInfo).port, path: "/", token: "none" });

let gathered: string[] = [];
const flush = (): void => {
  if (gathered.length === 0) return;
  const chunk = Buffer.from(gathered.join(""));
  gathered = [];
  for (const client of clients) client.write(chunk);
};
const timer = task.windowMs > 0 ? setInterval(flush, task.windowMs) : undefined;

await told("go");
const sent = await pace(task, (number, dueUs) => {
  const event = {
    type: "agent.message",
    content: [{ type: "text", text: `${WORDS} ${stamp(number, dueUs)}` }],
    id: newId("event"),
    processed_at: new Date().toISOString(),
  };
  gathered.push(`event: message\nid: ${number + 1}\ndata: ${JSON.stringify(event)}\n\n`);
  if (!timer) flush();
});
await sleep(task.windowMs);
say({ sent });
