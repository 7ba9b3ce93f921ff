import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { EFFORTS, newId, RequestError, SESSION_METADATA, type EventId } from "@tandem/protocol";
import { requireScope } from "../../http/access/authorize.ts";
import { modeOfAgent } from "../projection/modes.ts";
import { eventOfMessage, messageIdOf, sessionOfId } from "../projection/opencode-id.ts";
import type { OpencodeCall } from "./opencode-route.ts";
import { promptContent, type PromptPart } from "./prompt-content.ts";
import type { SessionWatch } from "../session-watch.ts";
import type { WireMessage } from "../projection/wire-message.ts";

export interface PromptRequest {
  messageID?: string | undefined;
  model?: { providerID: string; modelID: string } | undefined;
  agent?: string | undefined;
  variant?: string | undefined;
  parts: readonly PromptPart[];
  /** A person typed it, so that `/name` is a command. */
  isTyped: boolean;
}

export interface SentPrompt {
  id: string;
  watch: SessionWatch;
  /** Settles with the turn. */
  settled: Promise<void>;
}

/** Queues a message; it is durable when this resolves. */
export async function sendPrompt(call: OpencodeCall, request: PromptRequest): Promise<SentPrompt> {
  const { engine, hub, token } = call;
  const { session, thread } = sessionOfId(call.params["session"]!);
  if (thread !== null) throw new RequestError("not_supported", "A subagent takes no messages from clients.");
  const { folder, title } = await hub.find(session);
  const watch = await hub.watch(session);
  const content = await promptContent(request.parts, { engine, session, folder });
  if (request.agent !== undefined) await setMode(call, session, request.agent, watch);
  const model = request.model && (await call.catalogue.modelOf(request.model));
  const effort = EFFORTS.find((each) => each === request.variant);
  const id = request.messageID === undefined ? newId("event") : (eventOfMessage(request.messageID) as EventId);
  const settled = watch.settled(id);
  try {
    const [sent] = await engine.sessions.send(
      session,
      [
        {
          type: "user.message",
          content,
          tandem: {
            ...(model !== undefined && model !== watch.facts.current.model && { model }),
            ...(effort && { effort }),
            ...(request.isTyped && { commands: true }),
          },
        },
      ],
      token.name,
      { ids: [id], isResumed: false },
    );
    watch.sent(sent!);
  } catch (error) {
    watch.forget(id);
    throw error;
  }
  if (title === null) await entitle(call, session, request.parts);
  return { id, watch, settled };
}

const HEARTBEAT_MS = 10_000;

/**
 * Answers when the turn has ended. White space keeps the connection alive until then: a turn may take hours, and wait for
 * approvals.
 */
export async function streamAnswer(call: OpencodeCall, { id, watch, settled }: SentPrompt): Promise<Response> {
  const { outgoing } = call;
  let beat: NodeJS.Timeout | undefined;
  const started = setTimeout(() => {
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.write(" ");
    beat = setInterval(() => outgoing.write(" "), HEARTBEAT_MS);
  }, HEARTBEAT_MS);
  try {
    await settled;
    const body = JSON.stringify(answerOf(watch, id));
    if (!outgoing.headersSent) return new Response(body, { headers: { "content-type": "application/json" } });
    outgoing.end(body);
  } catch (error) {
    if (!outgoing.headersSent) throw error;
    outgoing.end(
      JSON.stringify({ name: "UnknownError", data: { message: error instanceof Error ? error.message : "" } }),
    );
  } finally {
    clearTimeout(started);
    clearInterval(beat);
  }
  return RESPONSE_ALREADY_SENT;
}

/** The last message of the turn. */
function answerOf(watch: SessionWatch, id: string): WireMessage {
  const parent = messageIdOf(id);
  const messages = watch.messages(null);
  const answer = messages.findLast(({ info }) => info.role === "assistant" && info.parentID === parent);
  const own = messages.find(({ info }) => info.id === parent);
  const found = answer ?? own;
  if (found) return found;
  throw new RequestError("conflict", "The message was withdrawn before the agent answered.");
}

async function setMode(call: OpencodeCall, session: string, agent: string, watch: SessionWatch): Promise<void> {
  const mode = modeOfAgent(agent);
  if (mode === watch.facts.current.mode) return;
  if (mode === "bypassPermissions") requireScope(call.token, "admin");
  await call.engine.sessions.update(
    session,
    { metadata: { [SESSION_METADATA.permissionMode]: mode } },
    call.token.name,
  );
}

const MAX_TITLE = 80;

async function entitle({ engine, token }: OpencodeCall, session: string, parts: readonly PromptPart[]): Promise<void> {
  const [line = ""] =
    parts
      .find((part) => part.type === "text")
      ?.text.trim()
      .split("\n") ?? [];
  if (line === "") return;
  const title = line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line;
  await engine.sessions.update(session, { title }, token.name).catch(() => undefined);
}
