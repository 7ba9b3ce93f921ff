import type { SessionEventBody } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { TurnControl, TurnHook } from "../hooks/turn-hook.ts";
import type { Clock } from "../host/clock.ts";
import { collectOutputs } from "./collect-outputs.ts";
import { hasMounts } from "./describe-mounts.ts";
import { prepareMounts } from "./mount-files.ts";

interface MountsHookDependencies {
  store: Pick<Store, "files" | "records">;
  clock: Clock;
}

/** Prepares a session's mounts before each turn, and stores its outputs afterwards. */
export class MountsHook implements TurnHook {
  readonly #control: TurnControl;
  readonly #dependencies: MountsHookDependencies;

  constructor(control: TurnControl, dependencies: MountsHookDependencies) {
    this.#control = control;
    this.#dependencies = dependencies;
  }

  async before(): Promise<SessionEventBody[]> {
    const row = this.#control.row();
    if (hasMounts(row)) await prepareMounts(row.folder);
    return [];
  }

  async after(): Promise<SessionEventBody[]> {
    const row = this.#control.row();
    return hasMounts(row) ? collectOutputs(row, this.#dependencies) : [];
  }
}
