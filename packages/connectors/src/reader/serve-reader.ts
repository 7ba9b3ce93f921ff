import { flushCompileCache } from "node:module";
import { Worker } from "node:worker_threads";
import { Failure } from "./failure.ts";
import type { Reader, Reply, Request } from "./reader.ts";

const LOOK_AFTER_OWNER_MS = 500;

/** Main loop of a reader process. Its arguments are the file's path and its owner's pid. */
export async function serveReader(open: (path: string) => Reader | Promise<Reader>): Promise<void> {
  const [path = "", owner] = process.argv.slice(2);
  // A query can block this thread. A second thread kills the process if its owner is gone.
  const watch = `setInterval(() => {
    if (process.ppid !== ${Number(owner)}) process.kill(process.pid, "SIGKILL");
  }, ${LOOK_AFTER_OWNER_MS});`;
  new Worker(watch, { eval: true }).unref();
  process.on("disconnect", () => process.exit());

  const say = (reply: Reply): void => void process.send?.(reply);
  let reader: Reader | undefined;
  process.on("message", (request: Request) => {
    void attempt(async () => answer(request, (reader ??= await open(path)))).then(say);
  });
  say(
    await attempt(async () => {
      reader = await open(path);
      return { type: "opened" };
    }),
  );
  // Node writes the compile cache at exit, which SIGKILL skips.
  flushCompileCache();
}

async function answer(request: Request, reader: Reader): Promise<Reply> {
  switch (request.type) {
    case "query":
      return { type: "rows", rows: await reader.query(request.query) };
    case "estimate":
      return { type: "estimate", estimate: await reader.estimate(request.query) };
    case "structure":
      return { type: "structure", ...(await reader.structure()) };
  }
}

async function attempt(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const { code, message, fix } = error instanceof Failure ? error : new Failure("query_failed", String(error));
    return { type: "failed", code, message, fix };
  }
}
