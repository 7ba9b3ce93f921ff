// The entry of a thread that holds one connect(). The writer is the only one of its process.
import { parentPort, workerData } from "node:worker_threads";
import { workOf } from "../operation.ts";
import "../operations/all.ts";
import { migrate } from "../operations/migrate.ts";
import { SQLITE } from "../operations/migrations.ts";
import { reasonOf, Refusal } from "../refusal.ts";
import { perform } from "../sql.ts";
import type { Call, Reply, Request, Result, ThreadData } from "./messages.ts";
import { SqliteConnection } from "./sqlite-connection.ts";

/** How soon another process's commits are noticed. The look itself takes microseconds. */
const WATCH_MS = 100;
/** About four megabytes: short enough to fit between two commits. */
const PAGES_FREED_AT_ONCE = 1_000;

const { file, role, isShared } = workerData as ThreadData;
const port = parentPort!;
const say = (reply: Reply): void => port.postMessage(reply);

let watch: NodeJS.Timeout | undefined;
let freeing: NodeJS.Immediate | undefined;

let opened: SqliteConnection | undefined;
const connect = (): SqliteConnection => (opened ??= new SqliteConnection(file, { readOnly: role !== "writer" }));

try {
  // The reader connects when it is first asked: the writer may still be making what it is to read.
  if (role === "writer") {
    transaction(() => perform(migrate({ ...SQLITE, isShared }), (statement) => connect().execute(statement)));
  }
  port.on("message", answer);
  say({ type: "opened", result: { ok: true, value: undefined } });
} catch (error) {
  say({ type: "opened", result: { ok: false, reason: reasonOf(error) } });
}

function answer(request: Request): void {
  switch (request.type) {
    case "read":
      return say({ type: "done", id: request.id, results: [attempt(() => read(request.call))] });
    case "write":
      return say({ type: "done", id: request.id, results: writeAll(request.calls) });
    case "watch":
      return watchOthers(request.on);
    case "close":
      clearInterval(watch);
      clearImmediate(freeing);
      say({ type: "done", id: request.id, results: [attempt(() => opened?.[Symbol.dispose]())] });
      return port.close();
  }
}

function read(call: Call): unknown {
  connect().checkPlace();
  return work(call);
}

const work = ({ name, args }: Call): unknown =>
  perform(workOf(name, args), (statement) => connect().execute(statement));

function attempt(call: () => unknown): Result {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

/** A failure that ended the whole transaction, such as a full disk, is one of all calls in it. */
function attemptInside(call: () => unknown): Result {
  const result = attempt(call);
  if (!result.ok && !connect().isInTransaction) throw new Refusal(result.reason);
  return result;
}

/** One commit for all of them; a call that fails undoes itself alone. */
function writeAll(calls: readonly Call[]): Result[] {
  const outcome = attempt(() =>
    transaction(() => calls.map((call) => attemptInside(() => savepoint(() => work(call))))),
  );
  if (calls.some(({ name }) => name.endsWith(".delete"))) freeing ??= setImmediate(freePages);
  return outcome.ok ? (outcome.value as Result[]) : calls.map(() => outcome);
}

function transaction<T>(body: () => T): T {
  // Takes the lock first: a transaction that reads and then wants to write may be refused, whatever the timeout.
  connect().run("begin immediate");
  try {
    const value = body();
    connect().checkPlace();
    connect().run("commit");
    return value;
  } catch (error) {
    undo("rollback");
    throw error;
  }
}

function savepoint<T>(body: () => T): T {
  connect().run("savepoint one_call");
  try {
    const value = body();
    connect().run("release one_call");
    return value;
  } catch (error) {
    undo("rollback to one_call; release one_call");
    throw error;
  }
}

/** Some failures have already undone everything; what counts is the first error. */
function undo(text: string): void {
  try {
    connect().run(text);
  } catch {}
}

function watchOthers(on: boolean): void {
  clearInterval(watch);
  if (!on) return;
  let last: unknown;
  const look = (): void => {
    const { dataVersion } = connect();
    // The first time, too: for what was committed before.
    if (dataVersion !== last) say({ type: "changed" });
    last = dataVersion;
  };
  watch = setInterval(() => attempt(look), WATCH_MS);
  attempt(look);
}

/** Gives the pages of what was deleted back to the disk, in between other work. */
function freePages(): void {
  freeing = undefined;
  const before = connect().freePages;
  undo(`pragma incremental_vacuum(${PAGES_FREED_AT_ONCE})`);
  // Another process that is busy, or a file that was made otherwise: then they are used again later.
  if (connect().freePages < before) freeing = setImmediate(freePages);
}
