import { Worker } from "node:worker_threads";
import type { Reply, Request } from "./sqlite-messages.ts";
import { SqliteFailure } from "./sqlite-failure.ts";
import { SqliteReader } from "./sqlite-reader.ts";

// The process that has the file open. Its arguments: the path of the file, and the id of the process that started it.

const [path, owner] = process.argv.slice(2);
const LOOK_AFTER_OWNER_MS = 500;

// A query blocks this thread. Another one sees to it that it does not go on for nobody.
const watch = `setInterval(() => {
  if (process.ppid !== ${Number(owner)}) process.kill(process.pid, "SIGKILL");
}, ${LOOK_AFTER_OWNER_MS});`;
new Worker(watch, { eval: true }).unref();

const say = (reply: Reply): void => void process.send?.(reply);

function answer(request: Request, reader: SqliteReader): Reply {
  return request.type === "query"
    ? { type: "rows", rows: reader.query(request) }
    : { type: "structure", tables: reader.structure() };
}

function attempt(work: () => Reply): Reply {
  try {
    return work();
  } catch (error) {
    if (error instanceof SqliteFailure) {
      return { type: "failed", code: error.code, message: error.message, fix: error.fix };
    }
    return { type: "failed", code: "query_failed", message: String(error), fix: "" };
  }
}

let reader: SqliteReader | undefined;
process.on("message", (request: Request) => say(attempt(() => answer(request, (reader ??= new SqliteReader(path!))))));
process.on("disconnect", () => process.exit());
say(
  attempt(() => {
    reader = new SqliteReader(path!);
    return { type: "opened" };
  }),
);
