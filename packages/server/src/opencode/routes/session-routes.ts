import { RequestError, SESSION_METADATA } from "@tandem/protocol";
import { z } from "zod";
import { requireScope } from "../../http/access/authorize.ts";
import { modeOfAgent } from "../projection/modes.ts";
import { eventOfMessage, sessionIdOf, sessionOfId } from "../projection/opencode-id.ts";
import { readFields, type OpencodeCall, type OpencodeRoute } from "./opencode-route.ts";
import { fileDiffs, sessionInfo } from "../projection/session-info.ts";
import { todoItem } from "../session-watch.ts";

const MAX_LISTED = 200;

const permissionRule = z.object({ permission: z.string(), action: z.enum(["allow", "deny", "ask"]) });

const createBody = z.object({
  title: z.string().max(512).optional(),
  agent: z.string().optional(),
  model: z.object({ id: z.string(), providerID: z.string() }).optional(),
  permission: z.array(permissionRule).optional(),
});

const updateBody = z.object({
  title: z.string().max(512).optional(),
  time: z.object({ archived: z.number().optional() }).optional(),
});

/** Sessions: list, create, change, fork, and what hangs on them. */
export const sessionRoutes: OpencodeRoute[] = [
  {
    method: "GET",
    path: "/session",
    scope: "read",
    handle: async ({ hub, query }) => {
      const start = Number(query.get("start") ?? 0);
      const search = query.get("search")?.toLowerCase() ?? "";
      const limit = Number(query.get("limit") ?? MAX_LISTED);
      return (await hub.list())
        .filter(
          ({ title, updated_at }) => Date.parse(updated_at) >= start && (title ?? "").toLowerCase().includes(search),
        )
        .slice(0, limit)
        .map((session) => sessionInfo(session, hub.revertOf(session.id)));
    },
  },
  { method: "POST", path: "/session", scope: "run", handle: create },
  {
    method: "GET",
    path: "/session/status",
    scope: "read",
    handle: async ({ hub }) =>
      Object.fromEntries(
        [...hub.watches]
          .filter(([, { facts }]) => facts.state.type !== "idle")
          .map(([id, { facts }]) => [sessionIdOf(id), facts.state]),
      ),
  },
  { method: "GET", path: "/session/:session", scope: "read", handle: get },
  {
    method: "PATCH",
    path: "/session/:session",
    scope: "run",
    handle: async (call) => {
      const { title, time } = readFields(updateBody, call.body);
      const session = primaryOf(call);
      if (title !== undefined) await call.engine.sessions.update(session, { title }, call.token.name);
      const info = await call.hub.info(session);
      if (time?.archived !== undefined) await call.engine.sessions.archive(session, call.token.name);
      return { ...info, ...(title !== undefined && { title }) };
    },
  },
  {
    method: "DELETE",
    path: "/session/:session",
    scope: "run",
    handle: async (call) => {
      await call.engine.sessions.delete(primaryOf(call), call.token.name);
      return true;
    },
  },
  {
    method: "GET",
    path: "/session/:session/children",
    scope: "read",
    handle: async ({ hub, params }) => {
      const { session, thread } = sessionOfId(params["session"]!);
      return thread === null ? hub.children(session) : [];
    },
  },
  {
    method: "GET",
    path: "/session/:session/todo",
    scope: "read",
    handle: async ({ hub, params }) => {
      const { session, thread } = sessionOfId(params["session"]!);
      return thread === null ? (await hub.watch(session)).facts.todos.map(todoItem) : [];
    },
  },
  {
    method: "GET",
    path: "/session/:session/diff",
    scope: "read",
    handle: async (call) => {
      const { session, thread } = sessionOfId(call.params["session"]!);
      if (thread !== null) return [];
      const { turns, checkpoints } = await call.engine.history.checkpoints(session);
      // A new session has nothing to compare.
      if (checkpoints.length === 0) return [];
      const message = call.query.get("messageID");
      if (message === null) return fileDiffs(await call.engine.history.diff(session, { patch: true }));
      const event = eventOfMessage(message);
      const turn = turns.find(({ message_id }) => message_id === event)?.turn;
      return turn === undefined ? [] : fileDiffs(await call.engine.history.diff(session, { turn, patch: true }));
    },
  },
  {
    method: "POST",
    path: "/session/:session/fork",
    scope: "run",
    handle: async (call) => {
      const { messageID } = readFields(z.object({ messageID: z.string().optional() }), call.body);
      const session = primaryOf(call);
      const { metadata } = await call.engine.sessions.get(session);
      // The fork starts in the same mode.
      if (metadata[SESSION_METADATA.permissionMode] === "bypassPermissions") requireScope(call.token, "admin");
      const before = messageID === undefined ? {} : { before_message_id: eventOfMessage(messageID) };
      const forked = await call.engine.history.fork(session, before, call.token.name);
      return call.hub.info(forked.id);
    },
  },
  {
    method: "POST",
    path: "/session/:session/revert",
    scope: "run",
    handle: async (call) => {
      const { messageID } = readFields(z.object({ messageID: z.string() }), call.body);
      const session = primaryOf(call);
      const watch = await call.hub.watch(session);
      // Clients interrupt a running turn first, and do not wait for its end.
      await watch.rest(call.signal);
      // opencode moves a revert; Tandem undoes the first one and rewinds again.
      if (watch.facts.rewind) await call.engine.history.undoRewind(session, {}, call.token.name);
      await call.engine.history.rewind(
        session,
        { to_message_id: await turnOf(call, session, messageID), scope: "both" },
        call.token.name,
      );
      return settledInfo(call, session);
    },
  },
  {
    method: "POST",
    path: "/session/:session/unrevert",
    scope: "run",
    handle: async (call) => {
      const session = primaryOf(call);
      await call.engine.history.undoRewind(session, {}, call.token.name);
      return settledInfo(call, session);
    },
  },
  {
    method: "POST",
    path: "/session/:session/summarize",
    scope: "run",
    handle: async (call) => {
      await call.engine.history.compact(primaryOf(call), call.token.name);
      return true;
    },
  },
  {
    method: "POST",
    path: "/session/:session/abort",
    scope: "run",
    handle: async ({ engine, params, token }) => {
      const { session, thread } = sessionOfId(params["session"]!);
      const of = thread === null ? {} : { session_thread_id: thread };
      await engine.sessions.send(session, [{ type: "user.interrupt", ...of }], token.name);
      return true;
    },
  },
];

async function create(call: OpencodeCall): Promise<unknown> {
  const { title, agent, model, permission = [] } = readFields(createBody, call.body);
  const mode = agent === undefined ? undefined : modeOfAgent(agent);
  if (mode === "bypassPermissions") requireScope(call.token, "admin");
  const named = model && (await call.catalogue.modelOf({ providerID: model.providerID, modelID: model.id }));
  const isUsual = named === undefined || named === (await call.catalogue.defaultModel());
  const created = await call.engine.sessions.create(
    {
      ...(await call.host.begin(call.directory)),
      ...(title !== undefined && { title }),
      metadata: {
        ...(mode !== undefined && mode !== call.host.usualMode && { [SESSION_METADATA.permissionMode]: mode }),
        ...(!isUsual && { [SESSION_METADATA.model]: named }),
        ...(deniesQuestions(permission) && { [SESSION_METADATA.questions]: "off" }),
      },
    },
    call.token.name,
  );
  return call.hub.info(created.id);
}

/** `opencode run` forbids questions and plan changes. Other rules have to be Tandem's, which apply to every client. */
function deniesQuestions(rules: readonly z.infer<typeof permissionRule>[]): boolean {
  const others = rules.filter(({ permission }) => permission !== "question" && !permission.startsWith("plan_"));
  if (others.length > 0) {
    throw new RequestError(
      "not_supported",
      `permission: rules for ${others[0]!.permission} are not taken from clients.`,
      {
        fix: "Add them with `tandem rules add`.",
      },
    );
  }
  return rules.some(({ permission, action }) => permission === "question" && action === "deny");
}

async function get({ hub, params }: OpencodeCall): Promise<unknown> {
  const { session, thread } = sessionOfId(params["session"]!);
  // The log says whether a rewind can be undone.
  await hub.watch(session);
  if (thread === null) return hub.info(session);
  const child = (await hub.children(session)).find(({ id }) => id === params["session"]);
  if (child) return child;
  throw new RequestError("not_found", `There is no session ${params["session"]}.`);
}

/** Changes of a session are not possible on a subagent's thread. */
function primaryOf({ params }: OpencodeCall): string {
  const { session, thread } = sessionOfId(params["session"]!);
  if (thread === null) return session;
  throw new RequestError("not_supported", "A subagent's session can only be read.", { fix: "Use its parent session." });
}

/** opencode may name an answer; Tandem rewinds to before the message that began its turn. */
async function turnOf({ hub }: OpencodeCall, session: string, message: string): Promise<string> {
  const found = (await hub.watch(session)).messages(null).find(({ info }) => info.id === message);
  if (!found) throw new RequestError("not_found", `There is no message ${JSON.stringify(message)}.`);
  return eventOfMessage(found.info.role === "assistant" ? found.info.parentID : message);
}

/** The session's entry after its log says what has changed. */
async function settledInfo({ engine, hub }: OpencodeCall, session: string): Promise<unknown> {
  await (await hub.watch(session)).reach(await engine.sessions.head(session));
  return hub.info(session);
}
