import { join } from "node:path";
import type { SessionId, SessionEventBody } from "@tandem/protocol";
import { CheckpointStores, type CheckpointLimits, type CheckpointUser } from "@tandem/workspace";
import type { EventLog } from "@tandem/storage";
import type { ConversationOutput, TurnEnd } from "@tandem/claude-code";
import { Timer } from "../host/timer.ts";
import type { HostSettings } from "../host/host-settings.ts";
import type { TurnHook, TurnControl, TurnStart } from "../hooks/turn-hook.ts";
import { giveFolder, giveOwn } from "../sandbox/give-folder.ts";
import type { SandboxSettings } from "../sandbox/sandbox-settings.ts";
import { CheckpointHook } from "./checkpoint-hook.ts";

export interface CheckpointSettings {
  /** Limits of the checkpoints; without it, there are none. */
  checkpoints?: CheckpointLimits;
  /** The share of the context window at which an idle session is compacted; without it, Claude Code decides. */
  compactAt?: number;
}

type Settings = CheckpointSettings & Pick<HostSettings, "log" | "clock"> & { sandbox?: SandboxSettings };

const PRUNE_EVERY_MS = 60 * 60 * 1_000;
const FIRST_PRUNE_MS = 60 * 1_000;

/** Checkpoints of sessions, and the turn hooks that take them. */
export class CheckpointService {
  /** Undefined if checkpoints are off. */
  readonly stores: CheckpointStores | undefined;
  readonly #settings: Settings;
  readonly #timer: Timer;
  /** Called for idle sessions whose context is nearly full. */
  onFull: (session: SessionId) => Promise<void> = async () => undefined;

  constructor(settings: Settings, stateFolder: string) {
    this.#settings = settings;
    this.#timer = new Timer(settings.clock);
    const user = settings.sandbox?.user && checkpointUser(settings.sandbox.user, stateFolder);
    this.stores =
      settings.checkpoints && new CheckpointStores(join(stateFolder, "checkpoints"), settings.checkpoints, user);
  }

  turnHooks(control: TurnControl, events: EventLog): TurnHook[] {
    const { compactAt, log } = this.#settings;
    const compact = (): void => {
      const { id } = control.row();
      this.onFull(id).catch((error: unknown) => log.warn({ session: id, error: String(error) }, "not compacted"));
    };
    return [
      ...(this.stores ? [new CheckpointHook(control, this.stores, { clock: this.#settings.clock, events })] : []),
      ...(compactAt === undefined ? [] : [new CompactionHook(compactAt, compact)]),
    ];
  }

  start(): void {
    this.#pruneIn(FIRST_PRUNE_MS);
  }

  stop(): void {
    this.#timer.clear();
  }

  #pruneIn(ms: number): void {
    if (!this.stores) return;
    this.#timer.set(ms, () => void this.#prune());
  }

  async #prune(): Promise<void> {
    try {
      await this.stores?.prune();
    } catch (error) {
      this.#settings.log.warn({ error: String(error) }, "old checkpoints could not be pruned");
    } finally {
      this.#pruneIn(PRUNE_EVERY_MS);
    }
  }
}

const checkpointUser = (user: NonNullable<SandboxSettings["user"]>, stateFolder: string): CheckpointUser => ({
  ...user,
  give: async (folder, place) => {
    const isGiven = await giveFolder(folder, stateFolder, user);
    if (isGiven) await giveOwn(place, stateFolder, user);
    return isGiven;
  },
});

/**
 * Compacts an idle session whose context is nearly full, so that no turn has to wait for it. Requests it once per compaction.
 */
class CompactionHook implements TurnHook {
  readonly #share: number;
  readonly #compact: () => void;
  #last: { model: string; tokens: number } | undefined;
  #isAsked = false;

  constructor(share: number, compact: () => void) {
    this.#share = share;
    this.#compact = compact;
  }

  observe({ thread, event }: Extract<ConversationOutput, { type: "event" }>): void {
    if (thread !== null) return;
    if (event.type === "tandem.compaction") {
      this.#last = undefined;
      this.#isAsked = false;
    }
    if (event.type !== "span.model_request_end" || event.is_error || event.tandem.model === undefined) return;
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = event.model_usage;
    const tokens = input_tokens + cache_read_input_tokens + cache_creation_input_tokens + output_tokens;
    this.#last = { model: event.tandem.model, tokens };
  }

  async after(_turn: TurnStart, { stop, reported }: TurnEnd): Promise<SessionEventBody[]> {
    const window = this.#last && reported[this.#last.model]?.contextWindow;
    if (stop !== "end_turn" || this.#isAsked || !this.#last || !window) return [];
    this.#isAsked = this.#last.tokens >= window * this.#share;
    if (this.#isAsked) this.#compact();
    return [];
  }
}
