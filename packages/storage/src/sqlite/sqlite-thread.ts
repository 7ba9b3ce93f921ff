// Entry point of a thread with one connection at a time.
import { parentPort } from "node:worker_threads";
import { shrinkHeapWhenIdle } from "../shrink-heap.ts";
import { SqliteWork } from "./sqlite-work.ts";
import type { Reply, Request } from "./thread-messages.ts";

const port = parentPort!;
const say = (reply: Reply): void => port.postMessage(reply);

/** Its next connection may be to another file. */
let work: SqliteWork | undefined;

port.on("message", (request: Request) => {
  if (request.type === "open") work = new SqliteWork(request.data, { changed: () => say({ type: "changed" }) });
  if (request.type === "watch") work?.watch(request.on);
  else say({ type: "done", id: request.id, results: work!.answer(request) });
});
// Its start leaves a third of its heap unused.
shrinkHeapWhenIdle();
