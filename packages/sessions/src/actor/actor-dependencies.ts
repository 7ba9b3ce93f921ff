import type { Spares } from "../spares/spares.ts";
import type { SessionRow, Store } from "@tandem/storage";
import type { Halt } from "../budgets/kill-switch.ts";
import type { SessionCommands } from "../commands/session-commands.ts";
import type { OwnLimits } from "../fleet/own-limits.ts";
import type { CreateTurnHooks } from "../hooks/turn-hook.ts";
import type { PreviewSink } from "../log/outbox.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { GradeOutcome } from "../outcomes/grader.ts";
import type { Rules } from "../rules/kept-rules.ts";
import type { ActorSettings } from "./actor-settings.ts";

export interface ActorDependencies {
  store: Store;
  settings: ActorSettings;
  previews: PreviewSink;
  /** The kill switch, if it is engaged. */
  halted: () => Promise<Halt | undefined>;
  createTurnHooks: CreateTurnHooks;
  /** Processes that were started ahead of their sessions, if any. */
  spares: () => Pick<Spares, "take" | "want" | "mayReopen" | "mostReopened"> | undefined;
  commands: Pick<SessionCommands, "prepare">;
  rules: Rules;
  definitions: ToolDefinitions;
  /** Whether this process may run turns of a session. If not, it only writes events that need no turn. */
  mayRun: (row: SessionRow) => boolean;
  /** Quotas of the account that pays for the turns. */
  limits: OwnLimits;
  grade: GradeOutcome;
  /** Why the last writer gave up the session, if this process knows. */
  lastLoss?: string;
}
