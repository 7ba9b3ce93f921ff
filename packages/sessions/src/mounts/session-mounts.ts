import {
  newId,
  RequestError,
  type RepositoryResource,
  type SessionResourceParams,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import type { MemoryStores } from "../memory/memory-stores.ts";
import { describeMemories } from "./describe-memories.ts";
import { forkMounts, mountFiles, unmountFile } from "./mount-files.ts";
import { defaultRepositoryMount, repositoryTarget } from "./mount-path.ts";
import type { RepositoryMounts } from "./mount-repositories.ts";
import { repositoryRemote } from "./repository-remote.ts";

type RepositoryParams = Extract<SessionResourceParams, { type: "github_repository" }>;

interface MountsDependencies {
  store: Pick<Store, "files">;
  clock: Clock;
  repositories: RepositoryMounts;
  memoryStores: Pick<MemoryStores, "get">;
}

/** Mounts the resources of new sessions and of forks. */
export class SessionMounts {
  readonly #dependencies: MountsDependencies;

  constructor(dependencies: MountsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Copies the files, and notes the repositories, which are cloned before the first turn. Undoes everything if one fails. */
  async mount(
    row: Pick<SessionRow, "id" | "folder">,
    wanted: readonly SessionResourceParams[],
  ): Promise<SessionRow["resources"]> {
    const { store, clock } = this.#dependencies;
    const repositories = await Promise.all(
      wanted.flatMap((params, index) =>
        params.type === "github_repository" ? [this.#describe(params, `resources[${index}]`)] : [],
      ),
    );
    const stores = await describeMemories(row.id, wanted, this.#dependencies.memoryStores);
    const paths = repositories.map(({ resource }) => resource.tandem.path);
    const twice = paths.find((path, index) => paths.indexOf(path) !== index);
    if (twice !== undefined) throw new RequestError("invalid_request", `mount_path: ${twice} is mounted twice.`);
    const files = await mountFiles(
      row,
      wanted.filter((params) => params.type === "file"),
      { files: store.files, clock },
    );
    const rest = [...repositories.map(({ resource }) => resource), ...stores];
    try {
      for (const { resource, token } of repositories) {
        if (token !== undefined) await this.#dependencies.repositories.tokens.put(row.id, resource.id, token);
      }
      return [...files, ...rest];
    } catch (error) {
      await this.undo(row, [...files, ...rest]);
      throw error;
    }
  }

  async undo(row: Pick<SessionRow, "id" | "folder">, resources: SessionRow["resources"]): Promise<void> {
    for (const resource of resources) if (resource.type === "file") await unmountFile(row.folder, resource);
    await this.#dependencies.repositories.tokens.forget(row.id);
  }

  async fork(
    row: Pick<SessionRow, "id" | "folder" | "resources">,
    fork: Pick<SessionRow, "id" | "folder">,
  ): Promise<{ resources: SessionRow["resources"]; notices: string[] }> {
    const forked = await forkMounts(row, fork, this.#dependencies.store);
    for (const [index, resource] of row.resources.entries()) {
      const copy = forked.resources[index];
      if (resource.type !== "github_repository" || copy?.type !== "github_repository") continue;
      const { tokens } = this.#dependencies.repositories;
      await tokens.copy({ session: row.id, resource: resource.id }, { session: fork.id, resource: copy.id });
    }
    return forked;
  }

  async #describe(
    { url, authorization_token: token, checkout, mount_path: given }: RepositoryParams,
    place: string,
  ): Promise<{ resource: RepositoryResource; token: string | undefined }> {
    await repositoryRemote(url, this.#dependencies.repositories.resolveFolder);
    if (checkout?.type === "branch" && !/^(?!-)(?!.*(\.\.|@\{|[\s~^:?*[\\]))[^\p{Cc}]+$/u.test(checkout.name)) {
      throw new RequestError("invalid_request", `${place}.checkout.name: this is not the name of a branch.`);
    }
    const mount = given ?? defaultRepositoryMount(url);
    const at = isoNow(this.#dependencies.clock);
    const resource: RepositoryResource = {
      type: "github_repository",
      id: newId("resource"),
      url,
      checkout: checkout ?? null,
      mount_path: mount,
      created_at: at,
      updated_at: at,
      tandem: { path: repositoryTarget(mount) },
    };
    return { resource, token };
  }
}
