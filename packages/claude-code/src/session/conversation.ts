import type {
  ApprovalNote,
  BackgroundTask,
  CustomTool,
  Delta,
  EventId,
  Evaluation,
  LlmError,
  ModelUsage,
  Permission,
  PermissionMode,
  SandboxState,
  SessionErrorDetail,
  SessionEventBody,
  StopDetails,
  ThreadId,
  ToolResultContent,
  UserContent,
  Verdict,
  WorkflowRunError,
  WorkflowRunId,
} from "@tandem/protocol";
import type { SandboxPlan } from "@tandem/sandbox";
import type { Credential } from "../credential.ts";
import type { ToolDefinition } from "../tool-server.ts";
import type { McpTool, McpToolReply } from "../mcp/connect-server.ts";
import type { LoggedAnswers } from "./transcript/unlogged-answers.ts";

/** A subagent that the model can call by name. */
export interface SubagentDefinition {
  name: string;
  description: string;
  system: string;
  model?: string;
  effort?: string;
  /** Claude Code's tool names; undefined for all tools of the conversation. */
  tools?: readonly string[];
  /** Those of the conversation's `workerTools` that it has besides `tools`. */
  workerTools?: readonly string[];
}

/** A tool that runs in the host's process. */
export interface HostTool {
  name: string;
  description: string;
  /** JSON Schema with an object at the root. */
  inputSchema: Record<string, unknown>;
  /** The tool has no side effects. */
  readOnly: boolean;
  /** The field of its input with a path that it reads. Such a call needs the same permission as reading the file. */
  readsPath?: string;
  /** `input` comes from the model, unvalidated. Must not throw; report errors in the result. */
  run(input: unknown, signal: AbortSignal): Promise<{ text: string; isError: boolean }>;
}

/** Tools of the host. To the model and in events, they look like an MCP server. */
export interface HostServer {
  name: string;
  tools: readonly HostTool[];
  timeoutMs: number;
}

/** An MCP server that the host is connected to. Claude Code never sees its address, headers or variables. */
export interface ConnectedServer {
  name: string;
  /** As shown to the model. */
  tools: readonly McpTool[];
  timeoutMs: number;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<McpToolReply>;
}

/** Settings of a trusted folder, read and checked by the host. Claude Code loads nothing itself. */
export interface TrustedSettings {
  /** Hooks in the format of Claude Code's settings. */
  hooks?: Record<string, unknown>;
  /** Deny rules in Claude Code's format, in addition to the gate. */
  denied: readonly string[];
  /** For commands that Claude Code runs. Variables that affect billing or routing are dropped. */
  variables: Readonly<Record<string, string>>;
  /**
   * The folder that contains `skills`, and the skills' names. It is a private copy, because Claude Code would also load
   * anything else that a plugin folder may contain.
   */
  skillsIn?: string;
  skills: readonly string[];
}

/** Skills of the session's agents: a plugin folder that contains nothing else. */
interface AgentSkills {
  folder: string;
  names: readonly string[];
}

/** The sandbox of a conversation's process. */
export type ConversationSandbox =
  /** The whole process runs in the sandbox, with every tool and subagent. */
  | {
      on: true;
      covers: "process";
      /** Without the files of this conversation, which are added when it starts. */
      plan: SandboxPlan;
      /** Replace variables of the host. */
      variables: Readonly<Record<string, string>>;
      /** A stand-in: the real credential is added outside of the sandbox. */
      credential: Credential;
      /** Claude Code's state. No other session can see it. */
      configDir: string;
      /** For `tandem.init`. */
      state: SandboxState;
    }
  /** Claude Code's own sandbox for shell commands: macOS only, untested. */
  | { on: true; covers: "commands"; domains: readonly string[] }
  | { on: false; reason: string; fix?: string };

/** Options that may change between turns. */
export interface TurnOptions {
  model: string;
  /** Undefined: the model's default. */
  effort: string | undefined;
  /** Claude Code's plan mode: it plans, and asks before it starts. */
  planning: boolean;
}

/** Options that are fixed for the life of a process. */
export interface ConversationSetup {
  executable: string;
  /** The credential that is billed. A sandboxed process gets a stand-in for it. */
  credential: Credential;
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** Additional environment variables. */
  variables?: Readonly<Record<string, string>>;
  /** Holds the process ledger and, for credentials other than a login, Claude Code's state. */
  stateFolder: string;
  /** Working folder; must exist. */
  folder: string;
  model: string;
  effort?: string;
  /** Appended to Claude Code's system prompt, or replaces it with `replaceSystem`. */
  system?: string;
  replaceSystem: boolean;
  /** The system prompt leaves out CLAUDE.md of the folder. */
  ignoresInstructions?: boolean;
  /** Offered built-in tools, by Claude Code's names. */
  tools: readonly string[];
  customTools: readonly CustomTool[];
  /** Tools that a worker of the session's self-hosted environment runs. */
  workerTools?: readonly ToolDefinition[];
  mcpServers: readonly { name: string; url: string; timeoutMs: number }[];
  connectedServers?: readonly ConnectedServer[];
  /** Names must differ from those of `mcpServers` and `connectedServers`. */
  hostServers?: readonly HostServer[];
  /** Without it, only CLAUDE.md is read from the folder, as text. */
  trusted?: TrustedSettings;
  agentSkills?: AgentSkills;
  planning?: boolean;
  /** Folders that a sandboxed process cannot write. */
  readOnly?: readonly string[];
  /** If on, the process does not start without the sandbox. */
  sandbox?: ConversationSandbox;
  subagents: readonly SubagentDefinition[];
  /**
   * The agents of workflow runs: those that a plan defines itself, and saved ones. `excluded` are saved agents for other
   * uses. Needs the tool `Workflow`.
   */
  workflows?: { inline: boolean; agents: readonly string[]; excluded: readonly string[] };
  /** Whether Claude Code's own agents (Explore, Plan and others) can be called besides. */
  builtinAgents?: boolean;
  /** The schema of the object that each turn must return. */
  outputSchema?: Record<string, unknown>;
  maxTurns?: number;
  /**
   * Lowers the CPU priority of the process. On an overloaded machine the host must not starve: it would miss its lease
   * renewals, its sessions would restart elsewhere, and the load would grow further.
   */
  yields?: boolean;
  /** True resumes from the transcript store; false starts a new conversation under `id`. */
  resume: boolean;
  /**
   * With `resume`: continues the unfinished turn of an earlier process without a message, up to `turn_ended`. The model
   * gets these results for calls that were open (for example custom tools answered since); for other open calls an
   * unknown outcome is reported. If the earlier process had finished the turn, the answers missing in `logged` are
   * reported, and the turn ends.
   */
  continuation?: { results: readonly LateResult[]; run?: AllowedCall; logged?: LoggedAnswers };
  /** The conversation's id in Claude Code, a UUID that we choose. */
  id: string;
  /** Name of the primary thread in messages from and to subagents. */
  primaryThread: ThreadId;
  deadlines: { spawn: number; init: number; firstByte: number; idle: number; exit: number };
}

/**
 * A call of an earlier process that may run now. The new process runs it at its start, before any model request. The host
 * must have logged the start: if the process dies, the call may have run.
 */
export interface AllowedCall {
  /** Id of the `…_use` event. */
  eventId: EventId;
  /** The model's id of the call. */
  toolUseId: string;
  /** Claude Code's name of the tool. */
  name: string;
  /** Replaces the stored input. */
  changedTo?: Record<string, unknown>;
  /** Told to the model when the last of the calls has run. */
  notes?: readonly string[];
  /** The transcript has this closed call instead: a copy of it is added under the new id. */
  copyOf?: string;
  /** Open calls that run after this one, each in a process of its own. If there are any, this process sends no model request. */
  laterCalls: readonly string[];
}

/** Result of a call whose process is gone. */
export interface LateResult {
  /** The model's id of the call. */
  toolUseId: string;
  content: readonly ToolResultContent[];
  isError: boolean;
  /** Sent to the model as a message if its transcript has lost the call. */
  inWords: readonly ModelContent[];
}

/** Stores a conversation's transcript, so that it can be resumed elsewhere. */
export interface TranscriptStore {
  append(subpath: string, lines: readonly Record<string, unknown>[]): Promise<void>;
  load(subpath: string): Promise<Record<string, unknown>[]>;
  subpaths(): Promise<string[]>;
}

export interface ToolCallRequest {
  /** Id of the `…_use` event. */
  eventId: EventId;
  /** The model's id of the call. */
  toolUseId: string;
  /** Claude Code's name, or the bare name of a custom or MCP tool. */
  name: string;
  mcpServer?: string;
  input: Record<string, unknown>;
  thread: ThreadId | null;
  /** Fires when the turn ends or the process dies before there is an answer. */
  signal: AbortSignal;
}

/** The decision about a call. `verdict` and `approval` are recorded on its event. */
export interface Decision {
  permission: Permission;
  evaluation?: Evaluation;
  verdict?: Verdict;
  approval?: ApprovalNote;
}

/** Answer of the host's hooks about a call. */
export type HookAnswer =
  /** `input` replaces the call's input, if the new input may run too. `context` is shown to the model. */
  { allow: true; input?: Record<string, unknown>; context?: string } | { allow: false; message: string };

/**
 * A person's answer. `input` replaces the call's input, and `context` describes the change to the model. `mode` is Claude
 * Code's mode after an approved plan.
 */
export type Confirmation =
  | { allow: true; input?: Record<string, unknown>; context?: string; mode?: PermissionMode }
  | { allow: false; message: string };

/**
 * Decisions and effects that the engine provides for a conversation. None of these may throw; a throw denies the call.
 */
export interface ConversationHost {
  /** Called in order. Must not throw. */
  onOutput(output: ConversationOutput): void;
  /** Decides synchronously whether a tool may run, by the policy of the thread's agent. Not called for custom tools. */
  decide(call: {
    name: string;
    mcpServer?: string;
    input: Record<string, unknown>;
    thread: ThreadId | null;
    /** The subagent's thread that a message goes to. */
    reaches?: ThreadId | undefined;
    /** A worker runs it on another machine. */
    isRemote?: true;
  }): Decision;
  /** Called for decision `ask` once the use event is emitted; also for questions. */
  confirm(call: ToolCallRequest): Promise<Confirmation>;
  /**
   * Awaited before a tool with side effects runs. Resolves when all output so far is durable; rejects if it cannot be
   * stored, and then the tool does not run. Otherwise a tool could have effects that no log records.
   */
  durable?(): Promise<void>;
  /** Awaited before an agent of a workflow run sends its first model request. If false, it never does. */
  admitThread?(thread: ThreadId): Promise<boolean>;
  /** Called for every call that may run. */
  beforeTool?(call: ToolCallRequest): Promise<HookAnswer>;
  /** Awaited last, before a call that a person allowed runs. If it rejects, the call does not run. */
  starting?(call: ToolCallRequest): Promise<void>;
  /** Called after a tool has run. Its context is added to the result for the model. */
  afterTool?(call: ToolCallRequest & { result: unknown }): Promise<{ context?: string }>;
  /** Called after a tool has failed. Its context is added to the error for the model. */
  afterFailure?(call: ToolCallRequest & { error: string }): Promise<{ context?: string }>;
  /** Called for each call of a custom tool or of a worker's tool, once the use event is emitted. */
  callCustomTool(call: ToolCallRequest): Promise<{ content: ToolResultContent[]; isError: boolean }>;
}

/** Output of a conversation: durable events, previews, and the state of its turn. */
export type ConversationOutput =
  | { type: "event"; thread: ThreadId | null; id: EventId; event: SessionEventBody }
  | { type: "delta"; thread: ThreadId | null; delta: Delta }
  /**
   * The model has received this message; until then it can be taken back. `uuid` is the one it was sent with. If the
   * message starts a turn, this is the first output. A message that arrives too late for a turn starts the next one.
   */
  | { type: "message_taken"; uuid: string }
  | { type: "background"; tasks: BackgroundTask[] }
  | { type: "turn_ended"; outcome: TurnEnd }
  /** The last output. `error` is undefined if the end was requested. */
  | { type: "closed"; error: LlmError | undefined };

export interface TurnEnd {
  stop: "end_turn" | "refusal" | "interrupted" | "max_turns" | "error";
  stopDetails: StopDetails | null;
  /** Only with `stop: "error"` and `"max_turns"`. */
  error?: SessionErrorDetail;
  /** Only with an output schema. */
  output?: unknown;
  /** Usage that Claude Code reports for this turn, by model, including subagents. */
  reported: Record<string, ModelUsage & { usd: number; contextWindow?: number }>;
}

/**
 * One Claude Code process with one conversation. Opens synchronously and sends its output to the host. Turns run one
 * after another in the same process; between turns it only uses memory, and can be closed and resumed without loss.
 */
export interface Conversation {
  /**
   * Resolves when the process has started as requested; otherwise rejects with an `LlmError`, and the conversation is
   * closed.
   */
  readonly ready: Promise<void>;
  /**
   * Of a process that only runs an allowed call (`laterCalls`): resolves when the call's result was reported, rejects if the
   * process dies first. It takes no messages.
   */
  readonly ranCall: Promise<void>;
  readonly pid: number | undefined;
  /** Resolves when its process, if it has one, and everything that it has started are dead. */
  readonly exited: Promise<void>;
  /** Whether it takes no more messages, because it has failed or is closing. Output of running work still arrives. */
  readonly ended: boolean;
  /**
   * Sends a message verbatim: no slash commands, no `@file`. Starts a turn, or steers the running one: the model then
   * gets it with the next tool results, or as a turn of its own. With `isCommand`, Claude Code interprets a leading
   * slash.
   */
  send(message: { uuid: string; content: readonly ModelContent[]; isCommand?: boolean }): void;
  /** Takes effect with the next turn. Sends no model request. */
  adjust(options: TurnOptions): Promise<void>;
  /**
   * Whether the resumed transcript contains a message, by the `uuid` it was sent with. Known once `ready` has resolved.
   */
  remembers(uuid: string): boolean;
  /** Withdraws a message that the model has not received. False if it has. */
  takeBack(uuid: string): Promise<boolean>;
  /**
   * Ends the running turn, if any, as soon as possible; resolves after its `turn_ended`. Background tasks continue, and
   * messages not yet received start a turn of their own.
   */
  interrupt(): Promise<void>;
  /** Stops a background task by its id. */
  stopTask(id: string): Promise<void>;
  /** Stops a workflow run, which then ends with this error. */
  endRun(run: WorkflowRunId, error: WorkflowRunError): Promise<void>;
  /**
   * Resolves when the transcript store has a call (by the model's id), so that its result can reach the model after a
   * crash. Also resolves after a timeout: an unresponsive database must not stop the agent.
   */
  kept(toolUseId: string): Promise<void>;
  /** Resolves when the transcript store has all calls and results of the turn so far, or after this time, at least 2 s. */
  caughtUp(withinMs: number): Promise<void>;
  /** Resolves once the transcript is stored; rejects if a part could not be. */
  flush(): Promise<void>;
  /** Suspends the process and its descendants until `unpause`. */
  pause(): void;
  unpause(): void;
  /**
   * Kills the process and its children; resolves when they are gone. Idempotent. A `left` turn stays open in the
   * transcript, so that a later process can continue it (`continuation`). A `lost` turn belongs to another worker: do not wait
   * for anything.
   */
  close(turn?: "ended" | "left" | "lost"): Promise<void>;
}

/** Content for the model; files have been inlined. */
export type ModelContent = Exclude<UserContent, { source: { type: "file" } }>;
