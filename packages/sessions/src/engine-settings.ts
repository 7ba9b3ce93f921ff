import type { Rule, Clock } from "@tandem/protocol";
import type { ActorSettings } from "./actor/actor-settings.ts";
import type { BudgetSettings } from "./budgets/budget-settings.ts";
import type { CheckpointSettings } from "./checkpoints/checkpoint-service.ts";
import type { LspSettings } from "./language-servers/lsp-settings.ts";
import type { GradeOutcome } from "./outcomes/grader.ts";
import type { GraderQueries } from "./outcomes/program-grader.ts";
import type { PreviewSettings } from "./log/preview-source.ts";
import type { MemorySettings } from "./memory/memory-stores.ts";
import type { MessagesSettings } from "./messages/messages-service.ts";
import type { PushSettings } from "./push/push-settings.ts";
import type { Quotas } from "@tandem/storage";
import type { AgentSettings } from "./resources/agents.ts";
import type { SkillSettings } from "./skills/skill-catalogue.ts";
import type { SpareSettings } from "./spares/spare-settings.ts";
import type { SecretSettings } from "./vaults/open-secret-box.ts";
import type { WebhookSettings } from "./webhooks/webhook-settings.ts";
import type { WorkSettings } from "./work/work-queue.ts";
import type { WorktreeSettings } from "./worktrees/worktree-maker.ts";

/** Everything that the embedding program passes to the engine. Each feature declares the settings that it reads. */
export interface EngineSettings
  extends
    Omit<ActorSettings, "clock">,
    AgentSettings,
    BudgetSettings,
    CheckpointSettings,
    LspSettings,
    MemorySettings,
    MessagesSettings,
    PreviewSettings,
    PushSettings,
    SecretSettings,
    SkillSettings,
    SpareSettings,
    WebhookSettings,
    WorkSettings {
  /** The system clock by default. */
  clock?: Clock;
  /** Folders that sessions may work in or under; the first is that of `env_local`. */
  roots: readonly string[];
  /** Further roots, as real paths, that a user may add while the engine runs. */
  addedRoots?: () => Promise<readonly string[]>;
  /** Rules of the project's config; they apply to every session. */
  rules?: readonly Rule[];
  /** Reads a secret reference that an admin names in a request. */
  readSecret?: (reference: string) => Promise<string>;
  /** How worktrees of sessions are prepared. */
  worktrees?: WorktreeSettings;
  /** Current limits of all sessions together; without it there are none. */
  quotas?: () => Quotas;
  /** Database connections for the graders of outcomes. */
  graderQueries?: GraderQueries;
  /** Replaces the graders of outcomes, for a replay. */
  gradeOutcome?: GradeOutcome;
}
