import type { Lease, Store } from "@tandem/storage";
import type { SessionCommands } from "../commands/session-commands.ts";
import type { OwnLimits } from "../fleet/own-limits.ts";
import type { DatabaseWait } from "../host/database-wait.ts";
import type { CreateTurnHooks } from "../hooks/turn-hook.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import type { UsageLedger } from "../log/usage-ledger.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { GradeOutcome } from "../outcomes/grader.ts";
import type { Rules } from "../rules/kept-rules.ts";
import type { Spares } from "../spares/spares.ts";
import type { TurnSettings } from "./turn-settings.ts";

/** Dependencies of the runner of a session's turns. */
export interface TurnDependencies {
  /** Its reads wait for an unavailable database. */
  store: Store;
  database: DatabaseWait;
  settings: TurnSettings;
  lease: Lease;
  writer: SessionWriter;
  ledger: UsageLedger;
  createTurnHooks: CreateTurnHooks;
  /** Processes that were started ahead of their sessions, if any. */
  spares: () => Pick<Spares, "take" | "want"> | undefined;
  rules: Rules;
  definitions: ToolDefinitions;
  commands: Pick<SessionCommands, "prepare">;
  limits: OwnLimits;
  grade: GradeOutcome;
  /** Why the last writer gave up the session, if this process knows. */
  lastLoss?: string;
  /**
   * Enqueues a step. The methods of the runner are called within steps, so they never run concurrently. If a step fails while
   * a turn is open, the session is given up: the turn could stay open for ever.
   */
  next: (step: () => Promise<void>) => void;
  /** Leaves the session to the next writer, which recovers its turn. */
  giveUp: (error: unknown) => void;
  /** Enqueues a look at the input queue. */
  look: () => void;
  /** Takes input from the queue. Called within a step. */
  takeInput: () => Promise<void>;
  /** Whether a message is queued, so that the next turn begins without going idle. */
  hasMessage: () => Promise<boolean>;
  onBegin: () => void;
  /** The turn waits for an answer. */
  onWaiting: () => void;
  onEnd: () => void;
  /** Every call of the turn has its result, and the next model request is about to start. */
  onStep: () => void;
}
