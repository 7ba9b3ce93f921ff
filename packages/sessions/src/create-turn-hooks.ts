import type { Clock, SessionEventBody } from "@tandem/protocol";
import type { Records, Store } from "@tandem/storage";
import type { ConversationOutput } from "@tandem/claude-code";
import { BudgetHook } from "./budgets/budget-hook.ts";
import type { SpendingSettings } from "./budgets/budget-settings.ts";
import type { KillSwitch } from "./budgets/kill-switch.ts";
import type { QuotaRegistry } from "./budgets/quota-registry.ts";
import type { CheckpointService } from "./checkpoints/checkpoint-service.ts";
import type { EngineSettings } from "./engine-settings.ts";
import { HostHooksTurnHook } from "./hooks/host-hooks-turn-hook.ts";
import { waitingHook, type CreateTurnHooks, type TurnControl, type TurnHook } from "./hooks/turn-hook.ts";
import { waitingStore } from "./host/waiting-store.ts";
import type { MemoryStoreCatalogue } from "./memory/memory-store-catalogue.ts";
import type { RepositoryMounts } from "./mounts/mount-repositories.ts";
import { MountsHook } from "./mounts/mounts-hook.ts";
import type { TurnQuota } from "./quotas/turn-quota.ts";
import type { KeptRules } from "./rules/kept-rules.ts";
import type { WorkQueue } from "./work/work-queue.ts";

interface TurnHooksDependencies {
  store: Store;
  settings: EngineSettings & { clock: Clock };
  killSwitch: KillSwitch;
  rules: KeptRules;
  spending: SpendingSettings;
  limitsIn: (records: Records) => QuotaRegistry;
  turnQuota: TurnQuota | undefined;
  work: () => Pick<WorkQueue, "request">;
  repositories: RepositoryMounts;
  memories: MemoryStoreCatalogue;
  checkpoints: CheckpointService;
}

/** The features that extend every turn, in the order in which they are called. */
export function createTurnHooks(dependencies: TurnHooksDependencies): CreateTurnHooks {
  const { settings, killSwitch, rules, spending, limitsIn, turnQuota, repositories, memories, checkpoints } =
    dependencies;
  const { clock } = settings;
  return (control) => {
    const store = waitingStore(dependencies.store, control.database);
    const { database } = control;
    return [
      waitingHook(killSwitch.turnHook, database),
      waitingHook(rules.turnHook, database),
      new HostHooksTurnHook(control, store.events, settings),
      new BudgetHook({ store, quotaRegistry: limitsIn(store.records), settings: spending, control, clock }),
      ...(turnQuota ? [turnQuota.turnHook(control)] : []),
      // Before the checkpoints: a repository that is cloned now is not the turn's change.
      new WorkHook(control, dependencies.work(), (err) => settings.log.warn({ err }, "no work item could be queued")),
      new MountsHook(control, { store, clock, repositories, memories }),
      ...checkpoints.turnHooks(control, store.events),
    ];
  };
}

/** Lets a worker come for the turns of a session in a self-hosted environment. */
class WorkHook implements TurnHook {
  readonly #control: TurnControl;
  readonly #work: Pick<WorkQueue, "request">;
  readonly #warn: (error: unknown) => void;

  constructor(control: TurnControl, work: Pick<WorkQueue, "request">, warn: (error: unknown) => void) {
    this.#control = control;
    this.#work = work;
    this.#warn = warn;
  }

  async before(): Promise<SessionEventBody[]> {
    await this.#control.database.run(() => this.#work.request(this.#control.row()));
    return [];
  }

  /** The worker of a long turn may have left meanwhile. */
  observe({ event }: Extract<ConversationOutput, { type: "event" }>): void {
    if (event.type !== "agent.tool_use" || !event.tandem.worker) return;
    this.#control.database.run(() => this.#work.request(this.#control.row())).catch(this.#warn);
  }
}
