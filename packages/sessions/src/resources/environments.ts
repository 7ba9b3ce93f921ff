import { isDeepStrictEqual } from "node:util";
import {
  ENVIRONMENT_METADATA,
  LOCAL_ENVIRONMENT,
  newId,
  RequestError,
  type Environment,
  type EnvironmentCreateParams,
  type EnvironmentId,
  type EnvironmentUpdateParams,
  type SandboxState,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { listAll, type EnvironmentStore, type Page, type PageQuery } from "@tandem/storage";
import { mergeMetadata } from "../host/merge-metadata.ts";
import { changeConfig, DEFAULT_CONFIG, newConfig } from "./environment-config.ts";
import { LABEL } from "../fleet/place.ts";
import type { SessionNetworking } from "../sandbox/host-grants.ts";
import type { SessionPlaces } from "./session-places.ts";

const EPOCH = "2026-01-01T00:00:00.000Z";

/** The environments of sessions. Settings that this machine cannot honour are rejected, never ignored. */
export class EnvironmentCatalogue {
  readonly #store: EnvironmentStore;
  readonly #places: SessionPlaces;
  readonly #local: Environment;
  readonly #clock: Clock;
  readonly #sandbox: () => Promise<SandboxState>;

  constructor(
    store: EnvironmentStore,
    places: SessionPlaces,
    { folder, clock, sandbox }: { folder: string; clock: Clock; sandbox: () => Promise<SandboxState> },
  ) {
    this.#store = store;
    this.#sandbox = sandbox;
    this.#clock = clock;
    this.#places = places;
    this.#local = {
      type: "environment",
      id: LOCAL_ENVIRONMENT,
      name: "local",
      description: "The folder in which the server was started.",
      config: DEFAULT_CONFIG,
      metadata: { [ENVIRONMENT_METADATA.path]: folder },
      scope: "account",
      created_at: EPOCH,
      updated_at: EPOCH,
      archived_at: null,
    };
  }

  async create(params: EnvironmentCreateParams, id: EnvironmentId = newId("environment")): Promise<Environment> {
    const config = await newConfig(params.config, this.#sandbox);
    const metadata = params.metadata ?? {};
    await this.#checkMetadata(metadata, config);
    const at = isoNow(this.#clock);
    const environment: Environment = {
      ...this.#local,
      id,
      name: params.name,
      description: params.description ?? null,
      config,
      ...(config.type === "cloud" && {
        tandem: { networking: namesNetworking(params) ? ("explicit" as const) : ("default" as const) },
      }),
      metadata,
      created_at: at,
      updated_at: at,
    };
    await this.#store.create(environment);
    return environment;
  }

  async get(id: string): Promise<Environment> {
    if (id === LOCAL_ENVIRONMENT) return this.#local;
    const environment = await this.#store.get(id);
    if (environment) return environment;
    throw new RequestError("not_found", `There is no environment ${id}.`, { detail: "environment_not_found" });
  }

  async update(id: string, params: EnvironmentUpdateParams): Promise<Environment> {
    const current = await this.#own(id);
    if (current.archived_at) throw archived(id);
    const config = await changeConfig(current.config, params.config, this.#sandbox);
    const metadata = mergeMetadata(current.metadata, params.metadata);
    await this.#checkMetadata(metadata, config);
    const environment: Environment = {
      ...current,
      name: params.name ?? current.name,
      description: params.description === undefined ? current.description : params.description,
      config,
      ...(namesNetworking(params) && { tandem: { networking: "explicit" as const } }),
      metadata,
      updated_at: isoNow(this.#clock),
    };
    await this.#store.update(environment);
    return environment;
  }

  async archive(id: string): Promise<Environment> {
    const current = await this.#own(id);
    if (current.archived_at) return current;
    const environment = { ...current, archived_at: isoNow(this.#clock) };
    await this.#store.update(environment);
    return environment;
  }

  async delete(id: string): Promise<void> {
    const { id: known } = await this.#own(id);
    await this.#store.delete(known as EnvironmentId);
  }

  /** The built-in environment is first on the first page. */
  async list(query: PageQuery): Promise<Page<Environment>> {
    const page = await this.#store.list(query);
    return query.cursor === undefined ? { ...page, data: [this.#local, ...page.data] } : page;
  }

  /** Finds an environment with exactly these settings that can start sessions. */
  async findLike(metadata: Environment["metadata"]): Promise<Environment | undefined> {
    for await (const environment of listAll((query) => this.#store.list(query))) {
      if (environment.config.type === "cloud" && isDeepStrictEqual(environment.metadata, metadata)) return environment;
    }
    return undefined;
  }

  /** For a new session. */
  async open(id: string): Promise<Environment> {
    const environment = await this.get(id);
    if (environment.archived_at) throw archived(id);
    return environment;
  }

  /** For a session's process. A session keeps the environment of its creation, also when that is archived or deleted. */
  async forProcess(id: string): Promise<{ networking: SessionNetworking; packages: readonly string[] }> {
    const found = id === LOCAL_ENVIRONMENT ? undefined : await this.#store.get(id);
    const packages = found?.config.type === "cloud" ? found.config.packages.npm : [];
    return { networking: networkingOf(found), packages };
  }

  async #own(id: string): Promise<Environment> {
    if (id === LOCAL_ENVIRONMENT) {
      throw new RequestError("forbidden", `The environment ${LOCAL_ENVIRONMENT} is built in and cannot be changed.`, {
        fix: "Create one of your own instead.",
      });
    }
    return this.get(id);
  }

  async #checkMetadata(metadata: Record<string, string>, config: Environment["config"]): Promise<void> {
    const { path, isolation, branch, needs, volume, git } = ENVIRONMENT_METADATA;
    const known: readonly string[] = Object.values(ENVIRONMENT_METADATA);
    const unknown = Object.keys(metadata).find((key) => key.startsWith("tandem.") && !known.includes(key));
    if (unknown) throw invalid(`metadata.${unknown}: there is no such setting of an environment`);
    const ofFolder = [path, isolation, branch, volume, git].find((key) => metadata[key] !== undefined);
    if (config.type === "self_hosted" && ofFolder) {
      throw invalid(`metadata.${ofFolder}: the workers of a self-hosted environment have their own folder`);
    }
    const folder = metadata[path];
    const kind = metadata[isolation];
    if (metadata[needs]?.split(",").some((label) => !LABEL.test(label.trim()))) {
      throw invalid(`metadata.${needs}: expected labels such as "gpu=yes,region=eu"`);
    }
    if (metadata[volume] !== undefined && (folder === undefined || !LABEL.test(`volume=${metadata[volume]}`))) {
      throw invalid(`metadata.${volume}: expected the name of a volume, and the folder on it in ${path}`);
    }
    if (metadata[git] !== undefined) {
      if (folder !== undefined || kind !== undefined) {
        throw invalid(
          `metadata.${git}: expected either a remote or ${path}; worktrees are made of the remote by themselves`,
        );
      }
      await this.#places.checkRemote(metadata[git]);
      return;
    }
    if (kind !== undefined && kind !== "worktree") {
      throw invalid(`metadata.${isolation}: expected "worktree", the only kind there is`);
    }
    if (folder === undefined && (kind !== undefined || metadata[branch] !== undefined)) {
      throw invalid(`metadata.${path}: expected the folder of the git repository`);
    }
    if (metadata[branch] !== undefined && kind === undefined) {
      throw invalid(`metadata.${branch}: only an environment with ${isolation}=worktree has a branch`);
    }
    if (folder !== undefined) await this.#places.resolve(folder);
  }
}

export type Environments = Omit<EnvironmentCatalogue, "findLike" | "open" | "forProcess">;

const namesNetworking = ({ config }: Pick<EnvironmentCreateParams, "config">): boolean =>
  config?.type === "cloud" && config.networking !== null && config.networking !== undefined;

const archived = (id: string): RequestError =>
  new RequestError("invalid_request", `The environment ${id} is archived.`, { detail: "environment_archived" });

const invalid = (message: string): RequestError =>
  new RequestError(
    "invalid_request",
    `${message}.`,
    message.startsWith("metadata") ? { detail: "invalid_metadata" } : {},
  );

function networkingOf(environment: Environment | undefined): SessionNetworking {
  if (environment?.config.type === "cloud" && environment.config.networking.type === "limited") {
    const { allowed_hosts: hosts, allow_package_managers: packageManagers } = environment.config.networking;
    return { type: "limited", hosts, packageManagers };
  }
  return { type: environment?.tandem?.networking === "explicit" ? "unrestricted" : "default" };
}
