import type {
  Conversation,
  ConversationHost,
  ConversationSetup,
  Credential,
  PoolLimit,
  TranscriptStore,
} from "@tandem/claude-code";
import type { ApprovalSettings } from "../approvals/approval-settings.ts";
import type { CommandSettings } from "../commands/command-catalogue.ts";
import type { FleetMembership } from "../fleet/fleet-settings.ts";
import type { HookSettings } from "../hooks/pin-hooks.ts";
import type { HostSettings } from "../host/host-settings.ts";
import type { McpSettings } from "../mcp/mcp-settings.ts";
import type { TrustSettings } from "../trust/folder-trust.ts";
import type { SessionCredentials } from "../vaults/use/session-credentials.ts";
import type { SandboxedSettings } from "../sandbox/program-sandbox.ts";
import type { ModelSettings } from "./turn-options.ts";

/** How a Claude Code process is started, and everything that is passed to it. */
export interface ProcessSettings
  extends
    HostSettings,
    ApprovalSettings,
    CommandSettings,
    FleetMembership,
    HookSettings,
    McpSettings,
    ModelSettings,
    SandboxedSettings,
    TrustSettings {
  executable: string;
  /** Read for each process, so that a changed key takes effect without a restart. */
  credential: () => Promise<Credential>;
  deadlines: ConversationSetup["deadlines"];
  /** Credentials of the sessions' vaults. The engine sets it. */
  vaults?: SessionCredentials;
  /** A limit on processes, shared with other engines. */
  processes?: PoolLimit;
  /** Loads what conversations need. Called when a session is created, ahead of its first message. */
  prepare?: () => void;
  openConversation: (setup: ConversationSetup, host: ConversationHost, transcripts: TranscriptStore) => Conversation;
  /** Ends orphaned Claude Code processes of servers that died on this machine. */
  sweep: () => Promise<unknown>;
}
