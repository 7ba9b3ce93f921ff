// A small server of the API for the tests of the crash test: honest by default, broken in one way with FLAW. Its state is a
// journal of JSON lines. It runs as a program of its own.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { randomUUID } from "node:crypto";

type Json = Record<string, unknown>;
interface Session {
  id: string;
  agent: Json;
  events: Json[];
  queue: Json[];
  isRunning: boolean;
  /** Answers to calls by the id of their event. */
  answers: Map<string, Json>;
  wake: () => void;
  watchers: Set<ServerResponse>;
  isInterrupted: boolean;
}

/** How long a message is in memory only. Long enough for a kill on a busy machine. */
const MEMORY_MS = 1_500;

const flaw = process.env["FLAW"] ?? "";
const journal = join(process.env["CRASH_TEST_STATE"] ?? ".", "journal.jsonl");
const agents = new Map<string, Json>();
const sessions = new Map<string, Session>();
const counter = join(process.env["CRASH_TEST_STATE"] ?? ".", "occasions");
let count = existsSync(counter) ? Number(readFileSync(counter, "utf8")) : 0;
/**
 * A flaw shows at every third occasion, so that the calm round has a chance to pass. Restarts do not begin anew: between two
 * kills there may be fewer than three.
 */
function now(name: string): boolean {
  if (flaw !== name) return false;
  count += 1;
  writeFileSync(counter, String(count));
  return count % 3 === 0;
}

/** A full disk leaves half a line, which is taken back. The caller fails. */
function keep(line: Json): void {
  const size = existsSync(journal) ? statSync(journal).size : 0;
  try {
    appendFileSync(journal, `${JSON.stringify(line)}\n`);
  } catch (error) {
    truncateSync(journal, size);
    throw error;
  }
}
const id = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "")}`;

function add(session: Session, event: Json): Json {
  const full: Json = { ...event, id: event["id"] ?? id("sevt"), processed_at: new Date().toISOString() };
  if (now("forget_event") && full["type"] === "agent.message") return full;
  keep({ session: session.id, event: full });
  if (now("move_events") && session.events.length > 2) session.events.splice(session.events.length - 2, 0, full);
  else session.events.push(full);
  if (now("change_event")) session.events[0] = { ...session.events[0], processed_at: "2020-01-01T00:00:00Z" };
  const frame = frameOf(full, session.events.length);
  const isSkipped =
    (now("skip_in_stream") && full["type"] === "agent.message") ||
    (flaw === "silent_stream" && session.events.length > 2);
  if (!isSkipped)
    for (const watcher of session.watchers) watcher.write(now("repeat_in_stream") ? frame + frame : frame);
  return full;
}

const frameOf = (event: Json, number: number): string =>
  `id: ${number}\nevent: message\ndata: ${JSON.stringify(event)}\n\n`;

function createSession(sessionId: string, agent: Json): Session {
  const session: Session = {
    id: sessionId,
    agent,
    events: [],
    queue: [],
    isRunning: false,
    answers: new Map(),
    wake: () => undefined,
    watchers: new Set(),
    isInterrupted: false,
  };
  sessions.set(sessionId, session);
  return session;
}

function load(): void {
  if (!existsSync(journal)) return;
  for (const line of readFileSync(journal, "utf8").split("\n")) {
    if (!line) continue;
    const entry = JSON.parse(line) as Json;
    if (entry["agent"]) agents.set(String((entry["agent"] as Json)["id"]), entry["agent"] as Json);
    const sessionId = String(entry["session"]);
    if (entry["created"]) createSession(sessionId, entry["created"] as Json);
    const session = sessions.get(sessionId);
    if (!session) continue;
    if (entry["queued"]) session.queue.push(entry["queued"] as Json);
    const event = entry["event"] as Json | undefined;
    if (!event) continue;
    session.events.push(event);
    session.queue = session.queue.filter((one) => one["id"] !== event["id"]);
    const call = event["tool_use_id"] ?? event["custom_tool_use_id"];
    if (typeof call === "string" && String(event["type"]).startsWith("user.")) session.answers.set(call, event);
  }
  for (const session of sessions.values()) recover(session);
}

/** Closes calls that ran when the server died, and continues the turn. */
function recover(session: Session): void {
  const last = session.events.findLast(({ type }) => String(type).startsWith("session.status_"));
  const reason = (last?.["stop_reason"] as Json | undefined)?.["type"];
  const isTaken = session.events.at(-1)?.["type"] === "user.message";
  const isIdle = !last || (last["type"] === "session.status_idle" && reason !== "requires_action");
  if (isIdle && !isTaken) return void work(session);
  if (flaw === "never_resume") return;
  for (const use of openCalls(session)) {
    if (use["evaluated_permission"] === "ask" && !session.answers.has(String(use["id"]))) continue;
    if (use["type"] === "agent.custom_tool_use") continue;
    if (flaw === "repeat_call") void run(use["input"] as Json);
    const words =
      flaw === "false_not_run" ? "The call did not run." : "The server died. The effect of this call is unknown.";
    const isError = flaw !== "false_success";
    close(session, use, words, isError);
  }
  void work(session, true);
}

const openCalls = (session: Session): Json[] =>
  session.events.filter(
    ({ type, id: use }) =>
      (type === "agent.tool_use" || type === "agent.custom_tool_use") &&
      !session.events.some(
        (one) =>
          one["type"] !== "user.tool_confirmation" && (one["tool_use_id"] === use || one["custom_tool_use_id"] === use),
      ),
  );

const close = (session: Session, use: Json, text: string, isError: boolean): void =>
  void add(session, {
    type: "agent.tool_result",
    tool_use_id: use["id"],
    content: [{ type: "text", text }],
    is_error: isError,
  });

function run(input: Json): Promise<{ text: string; isError: boolean }> {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", String(input["command"])], { stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.once("close", (code) => resolve({ text: text || `Exit code ${code}`, isError: code !== 0 }));
    if (flaw === "leave_process")
      spawn("sleep", ["300"], { stdio: "ignore", detached: true, env: { PATH: "/usr/bin:/bin" } }).unref();
  });
}

async function askModel(session: Session): Promise<Json[]> {
  const messages: Json[] = [];
  for (const event of session.events) {
    const { type } = event;
    if (type === "user.message") messages.push({ role: "user", content: event["content"] });
    if (type === "agent.message") messages.push({ role: "assistant", content: event["content"] });
    if (type === "agent.tool_use" || type === "agent.custom_tool_use") {
      messages.push({
        role: "assistant",
        content: [{ type: "tool_use", id: event["id"], name: event["name"], input: event["input"] }],
      });
    }
    if (type === "agent.tool_result" || type === "user.custom_tool_result") {
      const use = event["tool_use_id"] ?? event["custom_tool_use_id"];
      messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: use, content: event["content"] }] });
    }
  }
  const tools = ["bash", "lookup"].map((name) => ({ name, input_schema: { type: "object" } }));
  const ask = async (): Promise<Json[]> => {
    const response = await fetch(`${process.env["ANTHROPIC_BASE_URL"]}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "made-up", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: "claude-sonnet-5-5", max_tokens: 100, tools, messages }),
    });
    return ((await response.json()) as { content: Json[] }).content;
  };
  if (flaw === "double_bill") await ask();
  return ask();
}

const idle = (session: Session, stop: Json): void =>
  void add(session, { type: "session.status_idle", stop_reason: stop });

/** Waits for the answers to calls that ask. */
async function answered(session: Session, use: Json): Promise<Json | undefined> {
  idle(session, { type: "requires_action", event_ids: [use["id"]] });
  if (now("forget_approval")) return undefined;
  if (flaw === "run_early") void run(use["input"] as Json);
  while (!session.answers.has(String(use["id"])) && !session.isInterrupted) {
    await new Promise<void>((resolve) => (session.wake = resolve));
  }
  add(session, { type: "session.status_running" });
  return session.answers.get(String(use["id"]));
}

async function perform(session: Session, use: Json): Promise<void> {
  if (use["type"] === "agent.custom_tool_use") return void (await answered(session, use));
  if (use["evaluated_permission"] === "ask") {
    const answer = session.answers.get(String(use["id"])) ?? (await answered(session, use));
    if (!answer) return;
    if (answer["result"] === "deny" && flaw !== "ignore_denial")
      return close(session, use, "The call was denied.", true);
  }
  const { text, isError } = now("invent_result") ? { text: "effect", isError: false } : await run(use["input"] as Json);
  if (now("double_effect")) await run(use["input"] as Json);
  if (!(flaw === "no_result")) close(session, use, text, isError);
}

async function turn(session: Session): Promise<void> {
  for (;;) {
    for (const use of openCalls(session)) await perform(session, use);
    if (session.isInterrupted) break;
    const content = await askModel(session);
    if (session.isInterrupted) break;
    const call = content.find(({ type }) => type === "tool_use");
    if (!call) {
      if (now("no_answer")) break;
      const said = { type: "agent.message", content };
      add(session, said);
      if (now("repeat_answer")) add(session, said);
      break;
    }
    const isCustom = call["name"] === "lookup";
    const policy = session.agent["isAsking"] ? "ask" : "allow";
    const use = {
      type: isCustom ? "agent.custom_tool_use" : "agent.tool_use",
      name: call["name"],
      input: call["input"],
    };
    add(session, isCustom ? use : { ...use, evaluated_permission: policy });
    if (flaw === "no_result" && !isCustom) {
      await perform(session, session.events.at(-1)!);
      break;
    }
  }
}

async function work(session: Session, isOpen = false): Promise<void> {
  if (session.isRunning) return;
  session.isRunning = true;
  for (let isFirst = isOpen; isFirst || session.queue.length > 0; isFirst = false) {
    const message = session.queue.shift();
    session.isInterrupted = false;
    if (message) add(session, message);
    add(session, { type: "session.status_running" });
    if (now("stuck")) await new Promise(() => undefined);
    await turn(session);
    idle(session, { type: "end_turn" });
  }
  session.isRunning = false;
}

function send(session: Session, event: Json): [status: number, body: Json] {
  const stored: Json = { ...event, id: id("sevt") };
  const { type } = event;
  if (type === "user.message") {
    const isDropped = now("drop_message");
    // Acknowledged from memory: a restart loses it.
    if (!isDropped && flaw !== "memory_only") keep({ session: session.id, queued: stored });
    if (!isDropped) session.queue.push(stored);
    if (now("double_message")) session.queue.push({ ...stored, id: id("sevt") });
    setTimeout(() => void work(session), flaw === "memory_only" ? MEMORY_MS : 0);
    return [200, { data: [{ ...stored, processed_at: null }] }];
  }
  if (type === "user.interrupt") {
    session.isInterrupted = true;
    add(session, stored);
    session.wake();
    return [200, { data: [stored] }];
  }
  const call = String(event["tool_use_id"] ?? event["custom_tool_use_id"]);
  if (session.answers.has(call)) {
    if (flaw === "accept_both") return [200, { data: [add(session, stored)] }];
    return [409, { type: "error", error: { type: "invalid_request_error", message: "It was answered." } }];
  }
  if (now("drop_answer")) return [200, { data: [stored] }];
  session.answers.set(call, add(session, stored));
  session.wake();
  return [200, { data: [stored] }];
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://x");
  const [, , kind, name, part, stream] = pathname.split("/");
  const body = request.method === "POST" ? ((await json(request)) as Json) : {};
  const answer = (status: number, value: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  if (request.method === "POST" && kind === "environments") return answer(200, { id: id("env") });
  if (kind === "agents" && request.method === "POST") {
    const agent: Json = { id: id("agent"), isAsking: JSON.stringify(body).includes("always_ask") };
    agents.set(String(agent["id"]), agent);
    keep({ agent });
    return answer(200, agent);
  }
  if (kind === "agents")
    return name ? answer(agents.has(name) ? 200 : 404, {}) : answer(200, { data: [...agents.values()] });
  if (kind === "sessions" && !name) {
    const session = createSession(id("sesn"), agents.get(String(body["agent"])) ?? {});
    if (!now("drop_session")) keep({ session: session.id, created: session.agent });
    return answer(200, { id: session.id });
  }
  const session = sessions.get(name ?? "");
  if (!session) return answer(404, { type: "error", error: { type: "not_found_error", message: "No such session." } });
  if (stream) {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const last = request.headers["last-event-id"];
    const after = last === undefined ? session.events.length : Number(last) - (flaw === "resume_too_early" ? 1 : 0);
    for (const [index, event] of session.events.slice(after).entries())
      response.write(frameOf(event, after + index + 1));
    session.watchers.add(response);
    return void response.once("close", () => session.watchers.delete(response));
  }
  if (!part) return answer(200, { id: session.id });
  if (request.method === "POST") return answer(...send(session, (body["events"] as Json[])[0]!));
  const queued = session.queue.map((event) => ({ ...event, processed_at: null }));
  answer(200, { data: [...session.events, ...queued], next_page: null });
}

load();
createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
}).listen(Number(process.env["PORT"]), "127.0.0.1");
if (flaw === "exit") setTimeout(() => process.exit(3), 4_000);
process.on("SIGTERM", () => process.exit(0));
