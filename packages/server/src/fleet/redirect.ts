import { isAbsolute, relative } from "node:path";
import { ENVIRONMENT_METADATA, LOCAL_ENVIRONMENT, RequestError, type SessionId } from "@tandem/protocol";
import { describePlace, environmentOfDeployment, fits, placeWanted, takesWork } from "@tandem/sessions";
import { DEFAULT_TENANT, type WorkerRow } from "@tandem/storage";
import { z } from "zod";
import type { At } from "../http/route.ts";
import type { FleetProcess } from "../tenants/fleet-process.ts";
import { isReachable, type Peer, type Roster } from "./roster.ts";

export type Destination = "here" | Peer;

/** The parts of a request that decide which process can handle it. */
export interface RoutingInput {
  at: Exclude<At, "each">;
  params: Readonly<Record<string, string>>;
  search: URLSearchParams;
  body: unknown;
}

/** The holder that failed before; `nobody` if it was this process. */
type Tried = string | undefined;

const named = z.object({
  environment_id: z.string().optional().catch(undefined),
  metadata: z.record(z.string(), z.string()).optional().catch(undefined),
});

export interface RedirectDependencies {
  self: FleetProcess;
  roster: Roster;
  tenant: string;
  hasContext: () => boolean;
}

/** Chooses the process of the fleet that handles a request. */
export class Redirect {
  readonly #dependencies: RedirectDependencies;

  constructor(dependencies: RedirectDependencies) {
    this.#dependencies = dependencies;
  }

  /** Rejects with `unavailable` and the requirement if no process can. `tried`: the process that failed before. */
  async destination(input: RoutingInput, tried: Tried): Promise<Destination> {
    switch (input.at) {
      case "here":
        return "here";
      case "context":
        return this.#dependencies.hasContext() ? "here" : await this.#forContext(tried);
      case "job":
        return this.#forContext(tried);
      case "worker":
        return this.#forWorker(input, tried);
      case "writer":
      case "folder":
        return this.#forSession(input.at, input.params["session_id"] ?? "", tried);
    }
  }

  /** Not every worker has the project's context. Any of them reports that none has. */
  async #forContext(tried: Tried): Promise<Destination> {
    const isOwn = this.#dependencies.tenant === DEFAULT_TENANT;
    const having = isOwn ? await this.#choose(null, tried, { hasContext: true }) : undefined;
    return having ?? (await this.#choose(null, tried)) ?? "here";
  }

  async #forWorker({ search, body, params }: RoutingInput, tried: Tried): Promise<Destination> {
    const { environment_id: given, metadata } = named.catch({}).parse(body ?? {});
    const id = given ?? (await this.#environmentOf(params["deployment_id"]));
    const environment = id === undefined || id === LOCAL_ENVIRONMENT ? undefined : await this.#environment(id);
    // This process reports the unknown environment.
    if (id !== undefined && id !== LOCAL_ENVIRONMENT && !environment) return "here";
    const path =
      search.get("folder") ?? metadata?.[ENVIRONMENT_METADATA.path] ?? environment?.metadata[ENVIRONMENT_METADATA.path];
    // A new environment is prepared by a worker that its sessions can run on.
    const place = placeWanted(environment ?? { metadata: metadata ?? {} }) ?? null;
    const found = await this.#choose(place, tried, { folder: path });
    if (found) return found;
    if (id === undefined && path === undefined) return "here";
    throw new RequestError("unavailable", `No running worker can do this: it needs ${describePlace(place)}.`, {
      fix: "Start one with `tandem up --as worker`, or wait until one is back.",
    });
  }

  async #forSession(at: "writer" | "folder", id: string, tried: Tried): Promise<Destination> {
    const row = await this.#dependencies.self.store.sessions.get(id);
    if (!row) return "here";
    const held = await this.#dependencies.self.store.leases.holder(id as SessionId);
    if (held?.holder === this.#dependencies.self.holder) return "here";
    const holder = held && (await this.#dependencies.roster.find(held.holder, tried !== undefined));
    if (isReachable(holder) && holder.holder !== tried) return holder;
    const found = await this.#choose(row.place, tried, { folder: row.folder });
    if (found) return found;
    // A session whose machine never returns can still be renamed, archived and deleted.
    if (at === "writer" || row.place === null) return "here";
    throw new RequestError(
      "unavailable",
      `The session ${id} needs ${describePlace(row.place)}, and no running worker has it.`,
      {
        fix: "Start one there with `tandem up --as worker`, or wait until it is back.",
      },
    );
  }

  async #environmentOf(deployment: string | undefined): Promise<string | undefined> {
    return deployment === undefined
      ? undefined
      : environmentOfDeployment(this.#dependencies.self.store.records, deployment);
  }

  async #environment(id: string): Promise<{ metadata: Record<string, string> } | undefined> {
    const found = await this.#dependencies.self.store.environments.get(id);
    return found && { metadata: found.metadata };
  }

  /**
   * This process if it can, else the one with the most free capacity. Prefers processes whose roots contain the folder.
   */
  async #choose(
    place: string | null,
    tried: Tried,
    { folder, hasContext }: { folder?: string | undefined; hasContext?: true } = {},
  ): Promise<Destination | undefined> {
    const fitting = async (bypassCache: boolean): Promise<WorkerRow[]> => {
      const rows = await this.#dependencies.roster.living(bypassCache);
      return rows.filter(
        (row) =>
          fits(row, place, this.#dependencies.tenant) &&
          takesWork(row) &&
          row.holder !== tried &&
          (!hasContext || row.hasContext === true),
      );
    };
    const having = (rows: readonly WorkerRow[]): WorkerRow[] =>
      rows.filter(({ roots }) => folder === undefined || roots.some((root) => contains(root, folder)));
    let able = having(await fitting(tried !== undefined));
    if (able.length === 0) {
      // A matching process may have joined a moment ago. If none has the folder, any process can report the error.
      const rows = await fitting(true);
      able = having(rows).length > 0 ? having(rows) : rows;
    }
    if (able.some(({ holder }) => holder === this.#dependencies.self.holder)) return "here";
    return able.filter(isReachable).toSorted((a, b) => freeCapacity(b) - freeCapacity(a))[0];
  }
}

const freeCapacity = ({ maxSessions, sessions }: WorkerRow): number => maxSessions - sessions;

function contains(root: string, folder: string): boolean {
  const way = relative(root, folder);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}
