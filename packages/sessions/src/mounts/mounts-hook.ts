import type { ModelContent } from "@tandem/claude-code";
import type { SessionEventBody, Clock } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { TurnControl, TurnHook } from "../hooks/turn-hook.ts";
import { collectOutputs } from "./collect-outputs.ts";
import { hasMounts } from "./describe-mounts.ts";
import { errorDetail } from "../log/error-detail.ts";
import { syncMemories, type MemoryMounts } from "./mount-memories.ts";
import { prepareMounts } from "./mount-files.ts";
import { mountRepositories, type RepositoryMounts } from "./mount-repositories.ts";

interface MountsHookDependencies {
  store: Pick<Store, "files" | "records">;
  clock: Clock;
  repositories: RepositoryMounts;
  memories: MemoryMounts["memories"];
}

/** Prepares a session's mounts before each turn, and stores its outputs afterwards. */
export class MountsHook implements TurnHook {
  readonly #control: TurnControl;
  readonly #dependencies: MountsHookDependencies;
  #words: readonly ModelContent[] = [];

  constructor(control: TurnControl, dependencies: MountsHookDependencies) {
    this.#control = control;
    this.#dependencies = dependencies;
  }

  async before(): Promise<SessionEventBody[]> {
    const row = this.#control.row();
    this.#words = [];
    if (row.selfHosted || !hasMounts(row)) return [];
    await prepareMounts(row.folder);
    const { resources, events, words } = await mountRepositories(row, this.#dependencies.repositories);
    if (words.length > 0) await this.#control.change({ resources });
    // A first process reads it in its system prompt.
    if (row.claudeSession !== undefined) this.#words = words;
    return [...events, ...(await this.#syncMemories())];
  }

  words(): readonly ModelContent[] {
    return this.#words;
  }

  async after(): Promise<SessionEventBody[]> {
    const row = this.#control.row();
    if (row.selfHosted || !hasMounts(row)) return [];
    return [...(await this.#syncMemories()), ...(await collectOutputs(row, this.#dependencies))];
  }

  /** A store that cannot be reached must not end the turn: the session continues with its copy. */
  async #syncMemories(): Promise<SessionEventBody[]> {
    const { id, folder, resources } = this.#control.row();
    const { store, memories } = this.#dependencies;
    const events: SessionEventBody[] = [];
    for (const resource of resources) {
      if (resource.type !== "memory_store") continue;
      try {
        events.push(...(await syncMemories({ id, folder, resource }, { memories, records: store.records })));
      } catch (error) {
        const text = `${resource.mount_path} could not be synchronised with its store: ${errorDetail(error).message}`;
        events.push({ type: "tandem.notice", level: "warning", text });
      }
    }
    return events;
  }
}
