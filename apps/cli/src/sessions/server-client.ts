import { AsyncQueue, PREVIEWS } from "@tandem/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerConnection } from "./server-connection.ts";
import { pageQuery, resourcesOf, SETUP_MS, toPage } from "./server-resources.ts";
import { isDelta, type LiveItem, type SessionsClient } from "./sessions-client.ts";

/** How long a server may be away, as during a restart, before following a session fails. */
const RECONNECT_FOR_MS = 20_000;
const RECONNECT_EVERY_MS = 500;

/** The sessions of the running server. It takes the actor of every request from the token, so `by` is not sent. */
export function createServerClient(server: ServerConnection): SessionsClient {
  const { api } = server;
  return {
    url: server.url,
    holder: async () => undefined,
    ...resourcesOf(server),
    sessions: {
      create: (body) => api.call("sessions.create", { body, signal: AbortSignal.timeout(SETUP_MS) }),
      get: (id) => api.call("sessions.retrieve", { params: { session_id: id } }),
      update: (id, body) => api.call("sessions.update", { params: { session_id: id }, body }),
      delete: async (id) => void (await api.call("sessions.delete", { params: { session_id: id } })),
      list: async (query) => {
        const { order, agentId: agent_id, statuses } = query;
        return toPage(
          await api.call("sessions.list", {
            query: { ...pageQuery(query), order, agent_id, statuses: statuses && [...statuses] },
          }),
        );
      },
      send: async (id, events) =>
        (await api.call("sessions.events.send", { params: { session_id: id }, body: { events: [...events] } })).data,
      commands: async (id) => (await api.call("sessions.commands.list", { params: { session_id: id } })).data,
      shell: (id, command) => api.call("sessions.shell.run", { params: { session_id: id }, body: { command } }),
    },
    history: {
      checkpoints: (id) => api.call("sessions.checkpoints", { params: { session_id: id } }),
      diff: (id, { patch, ...query }) =>
        api.call("sessions.diff", {
          params: { session_id: id },
          query: { ...query, patch: patch === undefined ? undefined : patch ? "true" : "false" },
        }),
      cassette: (id) => api.call("sessions.cassette", { params: { session_id: id } }),
      rewind: (id, body) => api.call("sessions.rewind", { params: { session_id: id }, body }),
      undoRewind: (id, body) => api.call("sessions.undoRewind", { params: { session_id: id }, body }),
      fork: (id, body) => api.call("sessions.fork", { params: { session_id: id }, body }),
      compact: async (id) => void (await api.call("sessions.compact", { params: { session_id: id } })),
    },
    worktrees: {
      list: async () => (await api.call("worktrees.list")).data,
      status: (id) => api.call("sessions.worktree.retrieve", { params: { session_id: id } }),
      patch: async (id) => (await api.download("sessions.worktree.patch", { params: { session_id: id } })).text(),
      merge: (id, body) => api.call("sessions.worktree.merge", { params: { session_id: id }, body }),
      apply: (id, body) => api.call("sessions.worktree.apply", { params: { session_id: id }, body }),
      remove: async (id, body) =>
        void (await api.call("sessions.worktree.remove", { params: { session_id: id }, body })),
      prune: (dryRun) => api.call("worktrees.prune", { body: { dry_run: dryRun } }),
    },
    approvals: {
      list: async ({ status, session, limit, cursor }) =>
        toPage(await api.call("approvals.list", { query: { status, session_id: session, limit, page: cursor } })),
      get: (id) => api.call("approvals.retrieve", { params: { approval_id: id } }),
      answer: (id, body) => api.call("approvals.answer", { params: { approval_id: id }, body }),
    },
    notifications: {
      list: async () => (await api.call("notifications.list")).data,
      test: async () => (await api.call("notifications.test")).data,
    },
    rules: {
      list: async (place) =>
        (await api.call("rules.list", { query: { scope: place?.scope, of: place?.of ?? undefined } })).data,
      add: (rule, { scope, of }) => api.call("rules.create", { body: { ...rule, scope, of: of ?? undefined } }),
      remove: async (id) => void (await api.call("rules.delete", { params: { rule_id: id } })),
      test: (call, { sessionId, agentId, folder, mode }) =>
        api.call("rules.test", { body: { call, session_id: sessionId, agent_id: agentId, folder, mode } }),
    },
    sandboxHosts: {
      list: (session) => api.call("sandbox.hosts.list", { query: { session_id: session } }),
      allow: ({ host, scope, session, folder }) =>
        api.call("sandbox.hosts.create", { body: { host, scope, session_id: session, folder } }),
      revoke: async (id) => void (await api.call("sandbox.hosts.delete", { params: { sandbox_host_id: id } })),
    },
    mcpServers: {
      list: async () => (await api.call("mcp_servers.list")).data,
      get: (id) => api.call("mcp_servers.retrieve", { params: { mcp_server_id: id } }),
      accept: (id, hash) => api.call("mcp_servers.accept", { params: { mcp_server_id: id }, body: { hash } }),
    },
    budgets: {
      list: async () => (await api.call("budgets.list")).data,
      session: async (id) => (await api.call("budgets.session", { params: { session_id: id } })).data,
      set: async (scope, of, limits) => (await api.call("budgets.set", { body: { scope, of, limits } })).data,
    },
    killSwitch: {
      state: async () => (await api.call("emergency.state")).stopped ?? undefined,
      stop: async (_by, reason) => {
        const { stopped, interrupted } = await api.call("emergency.stop", { body: { reason: reason ?? undefined } });
        return { ...stopped, interrupted };
      },
      resume: async () => void (await api.call("emergency.resume")),
    },
    audit: {
      list: async ({ limit, cursor, order, session, actor, kinds, created }) =>
        toPage(
          await api.call("audit.list", {
            query: {
              limit,
              page: cursor,
              order,
              session_id: session,
              actor,
              kinds: kinds && [...kinds],
              "created_at[gte]": created?.gte,
              "created_at[lt]": created?.lt,
            },
          }),
        ),
      export: async () => {
        const { readAuditExport } = await import("./read-audit-export.ts");
        return readAuditExport(await (await api.download("audit.export")).text());
      },
      verify: (noted) => api.call("audit.verify", { body: { noted: [...noted] } }),
    },
    newest: async (id, { limit, types }) =>
      (
        await api.call("sessions.events.list", {
          params: { session_id: id },
          query: { order: "desc", limit, types: types && [...types], tandem: "true" },
        })
      ).data,
    messages: async (id, limit) => {
      const { data, before } = await api.call("sessions.messages.list", {
        params: { session_id: id },
        query: { limit },
      });
      return { messages: data, more: before !== null };
    },
    follow: (id, signal, from) => follow(server, id, signal, from),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}

/** Resolves when the stream is open. A stream that breaks is reopened after its last event. */
async function follow(
  { api }: ServerConnection,
  session: string,
  signal: AbortSignal,
  from: "first" | "now" = "now",
): Promise<AsyncQueue<LiveItem>> {
  const items = new AsyncQueue<LiveItem>(signal);
  const opened = Promise.withResolvers<void>();
  let isOpened = false;
  let giveUpAt: number | undefined;
  const following = api.follow("sessions.events.stream", {
    params: { session_id: session },
    query: { event_deltas: [...PREVIEWS], tandem: "true" },
    ...(from === "first" && { from: "0" }),
    signal,
    onConnection: (state) => {
      if (state !== "live") return;
      giveUpAt = undefined;
      isOpened = true;
      opened.resolve();
    },
    onFrame: ({ data }) => {
      if (data.type === "tandem.resync") return;
      items.push(isDelta(data) ? { type: "delta", delta: data } : { type: "event", event: data });
    },
    onError: (error) => {
      giveUpAt ??= isOpened ? Date.now() + RECONNECT_FOR_MS : 0;
      if (Date.now() > giveUpAt) throw error;
    },
    rest: (_ms, resting) => sleep(RECONNECT_EVERY_MS, undefined, { signal: resting }).catch(() => undefined),
  });
  following.then(
    () => opened.reject(signal.reason),
    (error: unknown) => {
      opened.reject(error);
      items.fail(error);
    },
  );
  await opened.promise;
  return items;
}
