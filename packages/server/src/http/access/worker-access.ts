import { RequestError, type EndpointName, type Session } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { TokenRow, WorkerAccess } from "@tandem/storage";
import { notValid } from "./authorize.ts";

/**
 * The routes for tokens of workers. All others are refused.
 * - `queue`: an environment's own key;
 * - `item`: also the token of that item;
 * - `session`: a session of the environment, or the item's own;
 * - `skill`: skills of such sessions' agents;
 * - `memory`, `memoryWrite`: memory stores of the item's session.
 */
const WORKER_ROUTES: Partial<Record<EndpointName, "queue" | "item" | "session" | "skill" | "memory" | "memoryWrite">> =
  {
    "environments.work.poll": "queue",
    "environments.work.stats": "queue",
    "environments.work.list": "queue",
    "environments.work.retrieve": "item",
    "environments.work.update": "item",
    "environments.work.ack": "item",
    "environments.work.heartbeat": "item",
    "environments.work.stop": "item",
    "sessions.retrieve": "session",
    "sessions.events.list": "session",
    "sessions.events.stream": "session",
    "sessions.events.send": "session",
    "skills.versions.retrieve": "skill",
    "skills.versions.download": "skill",
    "memoryStores.memories.list": "memory",
    "memoryStores.memories.retrieve": "memory",
    "memoryStores.memories.create": "memoryWrite",
    "memoryStores.memories.update": "memoryWrite",
    "memoryStores.memories.delete": "memoryWrite",
  };

interface WorkerRequest {
  worker: WorkerAccess;
  /** The id of the token. */
  token: string;
  route: string;
  params: Readonly<Record<string, string>>;
}

/** Rejects unless a worker's token covers the request. */
export async function admitWorker(
  { worker, token, route, params }: WorkerRequest,
  { sessions, work }: Pick<Engine, "sessions" | "work">,
): Promise<void> {
  const kind = isWorkerRoute(route) ? WORKER_ROUTES[route] : undefined;
  const item = worker.work;
  if (item && !(await work.isHeldWith(worker.environment, item.id, token))) throw notValid();
  switch (kind) {
    case undefined:
      throw refused();
    case "queue":
    case "item": {
      const isOwn = item === undefined || (kind === "item" && params["work_id"] === item.id);
      if (params["environment_id"] !== worker.environment || !isOwn) throw refused();
      return;
    }
    case "session": {
      const id = params["session_id"] ?? "";
      if (item ? id === item.session : (await find(sessions, id))?.environment_id === worker.environment) return;
      throw refused();
    }
    case "skill": {
      const live = item ? [item.session] : await work.sessions(worker.environment);
      for (const id of live) {
        const session = await find(sessions, id);
        if (session?.agent.skills.some(({ skill_id: skill }) => skill === params["skill_id"])) return;
      }
      throw refused();
    }
    case "memory":
    case "memoryWrite": {
      const session = item && (await find(sessions, item.session));
      const mounted = session?.resources.some(
        (resource) =>
          resource.type === "memory_store" &&
          resource.memory_store_id === params["memory_store_id"] &&
          (kind === "memory" || resource.access === "read_write"),
      );
      if (!mounted) throw refused();
    }
  }
}

/** A worker answers calls; it must not approve its own calls or speak for the user. */
export function refuseWorkerEvents({ worker }: Pick<TokenRow, "worker">, events: readonly { type: string }[]): void {
  if (!worker || events.every(({ type }) => RESULTS.has(type))) return;
  throw new RequestError("forbidden", "A worker may send results of tools only.");
}

const RESULTS = new Set(["user.tool_result", "user.custom_tool_result"]);

const isWorkerRoute = (name: string): name is keyof typeof WORKER_ROUTES => Object.hasOwn(WORKER_ROUTES, name);

/** An unknown session is refused like one of another environment. */
async function find(sessions: Engine["sessions"], id: string): Promise<Session | undefined> {
  try {
    return await sessions.get(id);
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return undefined;
    throw error;
  }
}

const refused = (): RequestError =>
  new RequestError("forbidden", "This token is for a worker's own environment and sessions.");
