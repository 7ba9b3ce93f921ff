import type { Lease, Store } from "@tandem/storage";
import type { SessionCommands } from "../commands/session-commands.ts";
import type { TurnSettings } from "./turn-settings.ts";
import type { OwnLimits } from "../fleet/own-limits.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { Rules } from "../rules/rules.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import type { Accompany } from "../hooks/turn-hook.ts";
import type { UsageLedger } from "../log/usage-ledger.ts";

/** What the runner of a session's turns is given. */
export interface TurnDependencies {
  store: Store;
  settings: TurnSettings;
  lease: Lease;
  writer: SessionWriter;
  ledger: UsageLedger;
  accompany: Accompany;
  rules: Rules;
  definitions: ToolDefinitions;
  commands: Pick<SessionCommands, "prepare">;
  limits: OwnLimits;
  /** Does a step when those before it are done. All that this class is asked to do is done in such steps. */
  next: (step: () => Promise<void>) => void;
  /** Looks into the inbox, from within a step. */
  look: () => Promise<void>;
  /** Whether a message waits there, so that a turn that has ended is followed by another at once. */
  hasMessage: () => Promise<boolean>;
  onBegin: () => void;
  /** The turn can do nothing more until somebody answers. */
  onWaiting: () => void;
  onEnd: () => void;
  /** Every call of the turn has its result, and the model is about to be asked again. */
  onStep: () => void;
}
