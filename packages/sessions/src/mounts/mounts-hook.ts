import type { ModelContent } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { TurnControl, TurnHook } from "../hooks/turn-hook.ts";
import type { Clock } from "../host/clock.ts";
import { collectOutputs } from "./collect-outputs.ts";
import { hasMounts } from "./describe-mounts.ts";
import { prepareMounts } from "./mount-files.ts";
import { mountRepositories, type RepositoryMounts } from "./mount-repositories.ts";

interface MountsHookDependencies {
  store: Pick<Store, "files" | "records">;
  clock: Clock;
  repositories: RepositoryMounts;
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
    if (!hasMounts(row)) return [];
    await prepareMounts(row.folder);
    const { resources, events, words } = await mountRepositories(row, this.#dependencies.repositories);
    if (words.length > 0) await this.#control.change({ resources });
    // A first process reads it in its system prompt.
    if (row.claudeSession !== undefined) this.#words = words;
    return events;
  }

  words(): readonly ModelContent[] {
    return this.#words;
  }

  async after(): Promise<SessionEventBody[]> {
    const row = this.#control.row();
    return hasMounts(row) ? collectOutputs(row, this.#dependencies) : [];
  }
}
