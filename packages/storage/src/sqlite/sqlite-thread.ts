// Entry point of a thread with one connection at a time. A process has only one writer per file.
import { parentPort } from "node:worker_threads";
import { workOf } from "../operation.ts";
import "../operations/all.ts";
import { migrate } from "../operations/schema/migrate.ts";
import { SQLITE } from "../operations/schema/migrations.ts";
import { reasonOf, Refusal } from "../refusal.ts";
import { shrinkHeapWhenIdle } from "../shrink-heap.ts";
import { perform } from "../sql-statement.ts";
import type { Call, Reply, Request, Result, ThreadData } from "./thread-messages.ts";
import { SqliteConnection } from "./sqlite-connection.ts";

/** Poll interval for commits of other processes. One check takes microseconds. */
const WATCH_MS = 100;
/** About 4 MB: short enough to fit between two commits. */
const PAGES_FREED_AT_ONCE = 1_000;

const port = parentPort!;
const say = (reply: Reply): void => port.postMessage(reply);

let watch: NodeJS.Timeout | undefined;
let freeing: NodeJS.Immediate | undefined;

let data: ThreadData | undefined;
let opened: SqliteConnection | undefined;
const connect = (): SqliteConnection =>
  (opened ??= new SqliteConnection(data!.file, { readOnly: data!.role !== "writer" }));

port.on("message", answer);
// Its start leaves a third of its heap unused.
shrinkHeapWhenIdle();

function answer(request: Request): void {
  switch (request.type) {
    case "open":
      data = request.data;
      return say({ type: "done", id: request.id, results: [attempt(open)] });
    case "read":
      return say({ type: "done", id: request.id, results: [attempt(() => read(request.call))] });
    case "write":
      return say({ type: "done", id: request.id, results: writeAll(request.calls) });
    case "watch":
      return watchOthers(request.on);
    case "close":
      return say({ type: "done", id: request.id, results: [attempt(close)] });
  }
}

function open(): void {
  // The reader connects lazily: the writer may still be migrating.
  if (data?.role !== "writer") return;
  const { isShared } = data;
  transaction(() => perform(migrate({ ...SQLITE, isShared }), (statement) => connect().execute(statement)));
}

/** Resets all state: the thread's next connection may be to another file. */
function close(): void {
  clearInterval(watch);
  clearImmediate(freeing);
  const closing = opened;
  [watch, freeing, data, opened] = [undefined, undefined, undefined, undefined];
  closing?.[Symbol.dispose]();
}

function read(call: Call): unknown {
  connect().checkFile();
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

/** An error that rolled back the whole transaction, such as a full disk, fails all its calls. */
function attemptInside(call: () => unknown): Result {
  const result = attempt(call);
  if (!result.ok && !connect().isInTransaction) throw new Refusal(result.reason);
  return result;
}

/** One commit for all calls; a failed call rolls back only its savepoint. */
function writeAll(calls: readonly Call[]): Result[] {
  const outcome = attempt(() =>
    transaction(() => calls.map((call) => attemptInside(() => savepoint(() => work(call))))),
  );
  if (calls.some(({ name }) => name.endsWith(".delete"))) freeing ??= setImmediate(freePages);
  return outcome.ok ? (outcome.value as Result[]) : calls.map(() => outcome);
}

function transaction<T>(body: () => T): T {
  // Take the write lock first: upgrading from read to write can fail with SQLITE_BUSY in spite of the timeout.
  connect().run("begin immediate");
  try {
    const value = body();
    connect().checkFile();
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

/** Some errors have rolled back already; keep the first error. */
function undo(text: string): void {
  try {
    connect().run(text);
  } catch {}
}

function watchOthers(on: boolean): void {
  clearInterval(watch);
  if (!on) return;
  let last: unknown;
  const check = (): void => {
    const { dataVersion } = connect();
    // Also report on the first check, for commits made before it.
    if (dataVersion !== last) say({ type: "changed" });
    last = dataVersion;
  };
  watch = setInterval(() => attempt(check), WATCH_MS);
  attempt(check);
}

/** Returns freed pages to the disk, between other work. */
function freePages(): void {
  freeing = undefined;
  const before = connect().freePages;
  undo(`pragma incremental_vacuum(${PAGES_FREED_AT_ONCE})`);
  // No progress: another process is busy, or the file has no auto-vacuum. The pages are reused later.
  if (connect().freePages < before) freeing = setImmediate(freePages);
}
