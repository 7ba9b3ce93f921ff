import type {
  Conversation,
  ConversationHost,
  ConversationSetup,
  Credential,
  HostServer,
  TranscriptStore,
} from "@tandem/claude-code";
import type { PermissionMode, Rule, SessionId } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import type { CheckpointLimits } from "@tandem/workspace";
import type { FleetSettings } from "./fleet/fleet-settings.ts";
import type { PreviewSource } from "./fleet/preview-source.ts";
import type { DefaultLimits } from "./budgets/quota-registry.ts";
import type { Model } from "./engine.ts";
import type { NotifySettings } from "./notify/notifier.ts";
import type { WorktreeSettings } from "./worktrees/worktree-maker.ts";
import type { NamedServer, ServerPlace } from "./mcp/server-place.ts";
import type { PinnedHook } from "./hooks/pin-hooks.ts";
import type { Quotas } from "./quotas/quotas.ts";
import type { SandboxSettings } from "./process/sandbox.ts";
import type { FolderTrust } from "./trust/folder-trust.ts";

export interface QuotaSettings {
  action: "stop" | "wait";
  /** How often one turn may wait. */
  windows: number;
}

export interface SpendingSettings {
  /** What may be spent, unless somebody has said otherwise since. */
  limits: DefaultLimits;
  /** The project's name: what its sessions spend is counted together. */
  project: string;
  /** Who pays, in words. */
  payer: () => Promise<string | null>;
}

/** What the engine is told by whoever puts it together. All times are milliseconds. */
export interface EngineSettings {
  executable: string;
  /** Read anew for each process, so that a changed key counts without a restart. */
  credential: () => Promise<Credential>;
  hostVariables: Readonly<Record<string, string | undefined>>;
  stateFolder: string;
  deadlines: ConversationSetup["deadlines"];
  /** How long an idle session keeps its process. */
  idle: number;
  /** What becomes of a turn whose process or server died: it ends with an error, or goes on by itself. */
  recovery: "stop" | "resume";
  /** What becomes of a turn that meets a quota with a reset time, unless its session says; without it, it ends. */
  quota?: QuotaSettings;
  /** What all tenants share: limits of an account, what a fleet has done. Without it, the engine's own store has it. */
  sharedRecords?: Records;
  /** Without it, nothing is limited but what sessions limit themselves. */
  spending?: SpendingSettings;
  /** What all sessions together may take, as it is at the moment; without it, there is no limit. */
  quotas?: () => Quotas;
  /** Calls that wait for a person: when they are denied, and how long they keep a process. */
  approvals?: { expire?: number | undefined; keepProcess: number };
  /** What other processes have asked or left is not for this one, which is about to end. */
  ownOnly?: boolean;
  /** Who is told when a session waits, is done or has failed. */
  notify?: NotifySettings;
  /** Without it, whoever finds that a session waits takes it. */
  fleet?: FleetSettings;
  /** A writer that is not heard of for so long has lost its sessions. */
  leaseTtl: number;
  /** Who writes, in words for whoever finds a session held. */
  holder: string;
  mcpTimeout: number;
  /**
   * Tools of the host's own that every session has, whatever its agent says: those that only read may be called, the others
   * are asked for. An agent that names an MCP server of its own the same has that one instead.
   */
  hostServers?: (session: SessionId) => Promise<readonly HostServer[]>;
  /** MCP servers that a client has brought along for a session of its own; an agent's of the same name go before them. */
  sessionServers?: (session: SessionId) => readonly ServerPlace[];
  /** Folders that sessions may work in or under; the first is that of `env_local`. */
  roots: readonly string[];
  /** Whether a person trusts a folder, as it is now. Without it, none is trusted. */
  trustOf?: (folder: string) => Promise<FolderTrust>;
  /** MCP servers of the project's config, which agents name as `tandem:NAME`. */
  mcpServer?: NamedServer;
  /** Who is asked about what sessions do. */
  hooks?: readonly PinnedHook[];
  sandbox?: SandboxSettings;
  /** Those of the project's config; they hold for every session. */
  rules?: readonly Rule[];
  /** How much sessions may do that do not say so themselves. */
  permissionMode?: PermissionMode;
  /** Where the user keeps `commands` and `agents` for all folders. */
  userFolders?: readonly string[];
  /** How worktrees of sessions are made ready. */
  worktrees?: WorktreeSettings;
  models: () => Promise<Model[]>;
  openConversation: (setup: ConversationSetup, host: ConversationHost, transcripts: TranscriptStore) => Conversation;
  /** Ends Claude Code processes that dead servers of this machine have left. */
  sweep: () => Promise<unknown>;
  /** How much is kept of the folders that sessions work in, to rewind to; without it, nothing. */
  checkpoints?: CheckpointLimits;
  /** The share of the context window at which an idle session is compacted; without it, Claude Code decides. */
  compactAt?: number;
  /** In a fleet: previews of sessions that other processes write. */
  previews?: PreviewSource;
  /** For what went wrong and concerns nobody's request. */
  log: { warn(details: Record<string, unknown>, message: string): void };
}
