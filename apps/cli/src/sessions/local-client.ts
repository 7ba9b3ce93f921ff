import { AsyncQueue, isOnPrimary, project, RequestError, type LiveDelta, type SessionId } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { Leases } from "@tandem/storage";
import { localActor } from "@tandem/tandem/project";
import type { LiveItem, SessionsClient } from "./sessions-client.ts";

/** Enough for any session that a user reads on a terminal. */
const MAX_EVENTS = 20_000;
const PAGE = 1_000;

/** A client of the engine in this process, which holds sessions as `holder`. `close` stops the engine. */
export function createLocalClient(
  engine: Engine,
  { leases, holder: here, close }: { leases: Leases; holder: string; close: () => Promise<void> },
): SessionsClient {
  const { approvals, deployments, environmentKeys, sessions } = engine;
  const holder: SessionsClient["holder"] = async (id) => {
    const held = await leases.holder(id as SessionId);
    return held && { name: held.holder, isHere: held.holder === here };
  };
  return {
    ...engine,
    url: undefined,
    approvals: {
      list: (query) => approvals.list(query),
      get: (id) => approvals.get(id),
      // No permission check: a user who can open the store could write any rule.
      answer: (id, answer, by) => approvals.answer(id, answer, by, true),
    },
    deployments: {
      create: (params) => deployments.create(params, localActor()),
      get: (id) => deployments.get(id),
      update: (id, params) => deployments.update(id, params, localActor()),
      archive: (id) => deployments.archive(id, localActor()),
      pause: (id) => deployments.pause(id, localActor()),
      unpause: (id) => deployments.unpause(id, localActor()),
      list: (query) => deployments.list(query),
      runs: deployments.runs,
      run: async () => {
        throw new RequestError("unavailable", "A run needs a running server: its session outlives this command.", {
          fix: "Start one with `tandem up`.",
        });
      },
    },
    environmentKeys: {
      list: (environment) => environmentKeys.list(environment),
      create: (environment, params) => environmentKeys.create(environment, { ...params, by: localActor() }),
      revoke: (environment, id) => environmentKeys.revoke(environment, id, localActor()),
    },
    sessions: {
      create: (params) => sessions.create(params, localActor()),
      get: (id) => sessions.get(id),
      update: (id, params) => sessions.update(id, params, localActor()),
      delete: (id) => sessions.delete(id, localActor()),
      list: (query) => sessions.list(query),
      commands: (id) => sessions.commands(id),
      shell: (id, command, signal) => sessions.shell(id, command, localActor(), signal),
      async send(id, events) {
        // Refuse a session held by another process: that process would run the turn, invisible here.
        const held = await holder(id);
        if (held && !held.isHere) {
          throw new RequestError("conflict", `The session ${id} is held by ${held.name}.`, {
            fix: "Continue it there, or after that process has ended.",
          });
        }
        return sessions.send(id, events, localActor());
      },
    },
    holder,
    async newest(session, { limit, types }) {
      const { events, waiting } = await sessions.events(session, { order: "desc", limit, types, thread: null });
      return [...waiting.toReversed(), ...events.map(({ event }) => event)].slice(0, limit);
    },
    async messages(session, limit) {
      const pages = [];
      let waiting: Awaited<ReturnType<typeof sessions.events>>["waiting"] = [];
      for (let before: number | undefined; pages.length * PAGE < MAX_EVENTS; before = pages.at(-1)!.at(-1)!.seq) {
        const page = await sessions.events(session, { order: "desc", before, limit: PAGE, thread: null });
        if (before === undefined) waiting = page.waiting;
        pages.push(page.events);
        if (page.events.length < PAGE) break;
      }
      const messages = project(pages.flat().toReversed(), waiting).filter(({ thread }) => thread === null);
      return { messages: messages.slice(-limit), more: messages.length > limit };
    },
    async follow(session, signal, from = "now") {
      const { id } = await sessions.get(session);
      const items = new AsyncQueue<LiveItem>(signal);
      const after = from === "first" ? 0 : await sessions.head(id);
      const hear = (deltas: readonly LiveDelta[]): void => {
        for (const { thread, delta } of deltas) if (thread === null) items.push({ type: "delta", delta });
      };
      const stop = sessions.onDelta(id as SessionId, { after, hear });
      signal.addEventListener("abort", stop, { once: true });
      void (async () => {
        try {
          for await (const batch of sessions.follow(id as SessionId, after, signal)) {
            items.push(...batch.filter(isOnPrimary).map(({ event }): LiveItem => ({ type: "event", event })));
          }
          if (!signal.aborted) throw new Error("The session was deleted.");
        } catch (error) {
          items.fail(error);
        }
      })();
      return items;
    },
    [Symbol.asyncDispose]: close,
  };
}
