import {
  MAX_RESOURCES,
  RequestError,
  resourceId,
  type FileResource,
  type SessionId,
  type SessionResource,
  type SessionResourceParams,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import type { SessionActor } from "../actor/session-actor.ts";
import type { RepositoryTokens } from "../mounts/repository-tokens.ts";
import { mountFiles, unmountFile } from "../mounts/mount-files.ts";

interface TokenChange {
  authorization_token: string;
}

interface ResourceDependencies {
  store: Pick<Store, "files">;
  clock: Clock;
  tokens: RepositoryTokens;
  actors: { with<T>(session: SessionId, work: (actor: SessionActor) => Promise<T>): Promise<T> };
  /** The row of a session that is not archived. */
  open: (session: string) => Promise<SessionRow>;
  changed: (session: SessionId) => void;
}

/** Changes the resources of living sessions, as their writer. */
export class SessionResourceService {
  readonly #dependencies: ResourceDependencies;

  constructor(dependencies: ResourceDependencies) {
    this.#dependencies = dependencies;
  }

  /** Mounts a file, also during a turn: it never replaces one. With an `id` that exists, it returns that resource. */
  async add(session: string, params: SessionResourceParams, by?: string, id?: string): Promise<FileResource> {
    if (params.type !== "file") {
      throw new RequestError("invalid_request", `type: a ${params.type} is mounted when its session is created.`, {
        fix: "Create a session with it among the resources.",
      });
    }
    const { id: open } = await this.#dependencies.open(session);
    const { store, clock } = this.#dependencies;
    const { resources } = await this.#dependencies.actors.with(open, (actor) =>
      actor.change(async (row) => {
        if (id !== undefined && row.resources.some((each) => resourceId(each) === id))
          return { change: {}, events: [] };
        if (row.resources.length >= MAX_RESOURCES) {
          throw new RequestError(
            "invalid_request",
            `The session has ${MAX_RESOURCES} resources, the most there can be.`,
          );
        }
        const wanted = [{ ...params, ...(id !== undefined && { id }) }];
        const [file] = await mountFiles(row, wanted, { files: store.files, clock });
        const added = file!;
        return {
          change: { resources: [...row.resources, added] },
          events: [event("added", added, by)],
        };
      }),
    );
    this.#dependencies.changed(open);
    const found = id === undefined ? resources.at(-1) : resources.find((each) => resourceId(each) === id);
    if (found?.type !== "file") throw notFound(session, id ?? "");
    return found;
  }

  /** Replaces the token of a repository. */
  async update(
    session: string,
    resource: string,
    { authorization_token: token }: TokenChange,
    by?: string,
  ): Promise<SessionResource> {
    const { id } = await this.#dependencies.open(session);
    const row = await this.#dependencies.actors.with(id, (actor) =>
      actor.change(async (current) => {
        const found = find(current, resource);
        if (found.type !== "github_repository") {
          throw new RequestError("invalid_request", "authorization_token: only a repository has a token.");
        }
        await this.#dependencies.tokens.put(id, found.id, token);
        const updated = { ...found, updated_at: isoNow(this.#dependencies.clock) };
        return {
          change: { resources: current.resources.map((each) => (each === found ? updated : each)) },
          events: [event("updated", updated, by)],
        };
      }),
    );
    return find(row, resource);
  }

  /** Removes a resource. Refused during a turn. A file that has changed since it was mounted stays. */
  async delete(session: string, resource: string, by?: string): Promise<void> {
    const { id } = await this.#dependencies.open(session);
    await this.#dependencies.actors.with(id, (actor) =>
      actor.change(async (row) => {
        const found = find(row, resource);
        if (actor.running) {
          throw new RequestError(
            "conflict",
            "A resource cannot be removed while a turn is running or waits for an answer.",
            {
              fix: "Answer or interrupt it, or wait until it ends.",
            },
          );
        }
        if (found.type === "memory_store") {
          throw new RequestError("invalid_request", "A memory store stays mounted until its session is deleted.");
        }
        const kept =
          found.type === "file"
            ? await unmountFile(row.folder, found)
            : found.tandem.commit === undefined
              ? undefined
              : "a cloned repository may contain work";
        if (found.type === "github_repository") await this.#dependencies.tokens.delete(id, found.id);
        return {
          change: { resources: row.resources.filter((each) => each !== found) },
          events: [event("removed", found, by, kept)],
        };
      }),
    );
    this.#dependencies.changed(id);
  }
}

function find({ id, resources }: SessionRow, resource: string): SessionResource {
  const found = resources.find((each) => resourceId(each) === resource);
  if (found) return found;
  throw notFound(id, resource);
}

const notFound = (session: string, resource: string): RequestError =>
  new RequestError("not_found", `The session ${session} has no resource ${resource}.`);

const event = (action: "added" | "removed" | "updated", resource: SessionResource, by?: string, kept?: string) => ({
  type: "tandem.resource" as const,
  action,
  resource_id: resourceId(resource),
  resource_type: resource.type,
  mount_path: resource.mount_path,
  ...(kept !== undefined && { kept }),
  ...(by !== undefined && { by }),
});
