// The entry of a thread that holds one connection. The writer is the only one of its process.
import { parentPort, workerData } from "node:worker_threads";
import "../operations.ts";
import { migrate, SQLITE } from "../migrations.ts";
import { workOf } from "../operation.ts";
import { perform } from "../sql.ts";
import { fromWire, toWire } from "../wire-error.ts";
import type { Call, Reply, Request, Result, ThreadData } from "./messages.ts";
import { SqliteConnection } from "./sqlite-connection.ts";

/** How soon another process's commits are noticed. The look itself takes microseconds. */
const WATCH_MS = 100;
/** About four megabytes: short enough to fit between two commits. */
const PAGES_FREED_AT_ONCE = 1_000;

const { file, role } = workerData as ThreadData;
const port = parentPort!;
const say = (reply: Reply): void => port.postMessage(reply);

let connection: SqliteConnection;
let watch: NodeJS.Timeout | undefined;
let freeing: NodeJS.Immediate | undefined;

try {
  connection = new SqliteConnection(file, { readOnly: role === "reader" });
  if (role === "writer") transaction(() => perform(migrate(SQLITE), (statement) => connection.execute(statement)));
  port.on("message", answer);
  say({ type: "opened", result: { ok: true, value: undefined } });
} catch (error) {
  say({ type: "opened", result: { ok: false, error: toWire(error) } });
}

function answer(request: Request): void {
  switch (request.type) {
    case "read":
      return say({ type: "done", id: request.id, results: [attempt(() => work(request.call))] });
    case "write":
      return say({ type: "done", id: request.id, results: writeAll(request.calls) });
    case "watch":
      return watchOthers(request.on);
    case "close":
      clearInterval(watch);
      clearImmediate(freeing);
      say({ type: "done", id: request.id, results: [attempt(() => connection[Symbol.dispose]())] });
      return port.close();
  }
}

const work = ({ name, args }: Call): unknown =>
  perform(workOf(name, args), (statement) => connection.execute(statement));

function attempt(call: () => unknown): Result {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    return { ok: false, error: toWire(error) };
  }
}

/** A failure that ended the whole transaction, such as a full disk, is one of all calls in it. */
function attemptInside(call: () => unknown): Result {
  const result = attempt(call);
  if (!result.ok && !connection.isInTransaction) throw fromWire(result.error);
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
  connection.run("begin immediate");
  try {
    const value = body();
    connection.run("commit");
    return value;
  } catch (error) {
    undo("rollback");
    throw error;
  }
}

function savepoint<T>(body: () => T): T {
  connection.run("savepoint one_call");
  try {
    const value = body();
    connection.run("release one_call");
    return value;
  } catch (error) {
    undo("rollback to one_call; release one_call");
    throw error;
  }
}

/** Some failures have already undone everything; what counts is the first error. */
function undo(text: string): void {
  try {
    connection.run(text);
  } catch {}
}

function watchOthers(on: boolean): void {
  clearInterval(watch);
  if (!on) return;
  let version = connection.dataVersion;
  watch = setInterval(() => {
    const now = connection.dataVersion;
    if (now === version) return;
    version = now;
    say({ type: "changed" });
  }, WATCH_MS);
  // What was committed before the first look.
  say({ type: "changed" });
}

/** Gives the pages of what was deleted back to the disk, in between other work. */
function freePages(): void {
  freeing = undefined;
  const before = connection.freePages;
  undo(`pragma incremental_vacuum(${PAGES_FREED_AT_ONCE})`);
  // Another process that is busy, or a file that was made otherwise: then they are used again later.
  if (connection.freePages < before) freeing = setImmediate(freePages);
}
