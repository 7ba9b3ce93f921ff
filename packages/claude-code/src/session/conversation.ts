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
  SessionErrorDetail,
  SessionEventBody,
  StopDetails,
  ThreadId,
  ToolResultContent,
  UserContent,
  Verdict,
} from "@tandem/protocol";
import type { Credential } from "../credential.ts";
import type { McpTool, McpToolReply } from "../mcp/connect-server.ts";

/** What a conversation needs to know of a subagent that may be called by name. */
export interface SubagentDefinition {
  name: string;
  description: string;
  system: string;
  model?: string;
  effort?: string;
  /** Claude Code's own names; undefined for all of the conversation's. */
  tools?: readonly string[];
}

/** A tool that the host itself runs, in its own process. */
export interface HostTool {
  name: string;
  description: string;
  /** JSON Schema, an object at its root. */
  inputSchema: Record<string, unknown>;
  /** It changes nothing. */
  readOnly: boolean;
  /** The input is as the model gave it, unchecked. Must not throw: what went wrong is an answer, too. */
  run(input: unknown, signal: AbortSignal): Promise<{ text: string; isError: boolean }>;
}

/** Tools of the host's own. To the model, and in events, it is an MCP server like any other. */
export interface HostServer {
  name: string;
  tools: readonly HostTool[];
  timeoutMs: number;
}

/** An MCP server that the host is connected to. Claude Code never learns its address, headers or variables. */
export interface ConnectedServer {
  name: string;
  /** As the model is told of them. */
  tools: readonly McpTool[];
  timeoutMs: number;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<McpToolReply>;
}

/** What a folder brings that a person trusts: read, checked and handed over by the host. Claude Code loads nothing itself. */
export interface TrustedParts {
  /** Claude Code's own hooks, as its settings spell them. */
  hooks?: Record<string, unknown>;
  /** Rules of Claude Code's own shape for what is denied, beside what the gate says. */
  denied: readonly string[];
  /** For the commands that Claude Code runs. Those that decide who pays or where requests go are passed over. */
  variables: Readonly<Record<string, string>>;
  /**
   * The folder with `skills` in it, if there are any, and their names. All else that Claude Code takes from a plugin it would
   * take from there too: so it is a copy of theirs, and nobody else's to write into.
   */
  skillsIn?: string;
  skills: readonly string[];
}

/** What of a conversation may change from turn to turn. */
export interface TurnOptions {
  model: string;
  /** Undefined: the model's own. */
  effort: string | undefined;
  /** Claude Code's own plan mode: it plans, and asks before it begins. */
  planning: boolean;
}

/** Everything about a conversation that stays as it is while its process lives. */
export interface ConversationSetup {
  executable: string;
  credential: Credential;
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** Variables of its own, beside what every child has. */
  variables?: Readonly<Record<string, string>>;
  /** Where process ledger and, for credentials other than a login, Claude Code's own state are kept. */
  stateFolder: string;
  /** Where it works; must exist. */
  folder: string;
  model: string;
  effort?: string;
  /** Appended to Claude Code's own system prompt, or in its place with `replaceSystem`. */
  system?: string;
  replaceSystem: boolean;
  /** Built-in tools that are offered, in Claude Code's own names. */
  tools: readonly string[];
  customTools: readonly CustomTool[];
  mcpServers: readonly { name: string; url: string; timeoutMs: number }[];
  connectedServers?: readonly ConnectedServer[];
  /** None of them goes by a name of `mcpServers` or `connectedServers`. */
  hostServers?: readonly HostServer[];
  /** Without it, nothing of the folder is loaded but CLAUDE.md, as text. */
  trusted?: TrustedParts;
  planning?: boolean;
  /** Where it is on, shell commands run in a sandbox of the operating system, or the process does not come up. */
  sandbox?: { on: true; domains: readonly string[] } | { on: false; reason: string };
  subagents: readonly SubagentDefinition[];
  /** The object that each turn has to end with. */
  outputSchema?: Record<string, unknown>;
  maxTurns?: number;
  /**
   * Has the processor after others. Where a session is lost by whoever is late to renew its lease, that one must not wait for
   * those whose log it keeps: a machine with too much to do would start its sessions anew elsewhere, and have even more.
   */
  yields?: boolean;
  /** Taken up again where it was left, from the transcript store; false begins a new conversation, under `id`. */
  resume: boolean;
  /**
   * With `resume`: the turn that an earlier process left unfinished goes on by itself, without a message, and ends with
   * `turn_ended`. The model is given these results of calls that were open then (custom tools that were answered since, say);
   * of every other open call it is told that nobody knows what it did.
   */
  goOn?: { results: readonly LateResult[] };
  /** The conversation's id in Claude Code's books, a UUID of ours. */
  id: string;
  /** The name of the primary thread, for what subagents are told and answer. */
  primaryThread: ThreadId;
  deadlines: { spawn: number; init: number; firstByte: number; idle: number; exit: number };
}

/** What came of a call after the process that made it had gone. */
export interface LateResult {
  /** The id by which the model knows the call. */
  toolUseId: string;
  content: readonly ToolResultContent[];
  isError: boolean;
  /** What the model is told instead where its transcript has lost the call. */
  inWords: readonly ModelContent[];
}

/** Where the transcript of a conversation is kept, so that it can be taken up elsewhere. */
export interface TranscriptStore {
  append(subpath: string, lines: readonly Record<string, unknown>[]): Promise<void>;
  load(subpath: string): Promise<Record<string, unknown>[]>;
  subpaths(): Promise<string[]>;
}

export interface ToolCallRequest {
  /** The id of the `…_use` event. */
  eventId: EventId;
  /** The id by which the model knows it. */
  toolUseId: string;
  /** Claude Code's name, or the bare name of a custom or MCP tool. */
  name: string;
  mcpServer?: string;
  input: Record<string, unknown>;
  thread: ThreadId | null;
  /** Fires when the turn ends or the process dies before there is an answer. */
  signal: AbortSignal;
}

/** What may become of a call. `verdict` and `approval` go onto its event. */
export interface Decision {
  permission: Permission;
  evaluation?: Evaluation;
  verdict?: Verdict;
  approval?: ApprovalNote;
}

/** What hooks of the host's say about a call. */
export type HookAnswer =
  /** `input`: the call is made with this instead, if that may run too. `context`: told to the model. */
  { allow: true; input?: Record<string, unknown>; context?: string } | { allow: false; message: string };

/**
 * What a person says of a call. `input` is what it is made with instead, `told` what the model hears of that. `mode` is
 * Claude Code's own from then on, after a plan.
 */
export type Confirmation =
  | { allow: true; input?: Record<string, unknown>; told?: string; mode?: PermissionMode }
  | { allow: false; message: string };

/** What the engine decides and does on behalf of a conversation. None of these may throw; a throw denies. */
export interface ConversationHost {
  /** In the order in which it happened. Must not throw. */
  onOutput(output: ConversationOutput): void;
  /** Whether a tool may run: at once, from the policy of the thread's agent. Custom tools are not asked for. */
  decide(call: { name: string; mcpServer?: string; input: Record<string, unknown>; thread: ThreadId | null }): Decision;
  /** Called where the decision was `ask`, once the use event is out; for questions too. */
  confirm(call: ToolCallRequest): Promise<Confirmation>;
  /**
   * Awaited before a tool runs that may have effects: resolves when everything that was told is durable, rejects if it never
   * will be, and then the tool does not run. Otherwise a tool could have done what no log knows of.
   */
  durable?(): Promise<void>;
  /** Asked of every call that may run, last of all. */
  beforeTool?(call: ToolCallRequest): Promise<HookAnswer>;
  /** Asked once a tool has run. What it says is told to the model with the result. */
  afterTool?(call: ToolCallRequest & { result: unknown }): Promise<{ context?: string }>;
  /** Called for each call of a custom tool, once the use event is out. */
  callCustomTool(call: ToolCallRequest): Promise<{ content: ToolResultContent[]; isError: boolean }>;
}

/** What comes out of a conversation: durable events, previews, and where its turn stands. */
export type ConversationOutput =
  | { type: "event"; thread: ThreadId | null; id: EventId; event: SessionEventBody }
  | { type: "delta"; thread: ThreadId | null; delta: Delta }
  /**
   * The model is given this message; until then it may still be taken back. `uuid` is the one it was sent with. It comes first
   * in a turn that the message begins. A message that no turn could take in begins a turn of its own when that has ended.
   */
  | { type: "message_taken"; uuid: string }
  | { type: "background"; tasks: BackgroundTask[] }
  | { type: "turn_ended"; outcome: TurnEnd }
  /** Nothing more will come. `error` is undefined where the end was asked for. */
  | { type: "closed"; error: LlmError | undefined };

export interface TurnEnd {
  stop: "end_turn" | "refusal" | "interrupted" | "max_turns" | "error";
  stopDetails: StopDetails | null;
  /** With `stop: "error"` and `"max_turns"`. */
  error?: SessionErrorDetail;
  /** Under an output schema. */
  output?: unknown;
  /** What Claude Code says that this turn took, by model; subagents included. */
  reported: Record<string, ModelUsage & { usd: number; contextWindow?: number }>;
}

/**
 * One Claude Code process that carries one conversation. Opens at once; what it has to say goes to the host. Turns follow
 * each other in the same process; between them it costs memory only, and may be closed and resumed without loss.
 */
export interface Conversation {
  /** Resolves when the process has come up as it was asked to; rejects with an `LlmError` (then it is closed). */
  readonly ready: Promise<void>;
  readonly pid: number | undefined;
  /** Whether it takes no messages any more: it has failed, or is being closed. What is under way is still heard of. */
  readonly ended: boolean;
  /**
   * Gives the model a message, as it is: no slash commands, no `@file`. Begins a turn, or steers the one that is running: then
   * the model gets it with the next results of tools, or as a turn of its own if there are none. With `isCommand`, a leading
   * slash is Claude Code's to interpret.
   */
  send(message: { uuid: string; content: readonly ModelContent[]; isCommand?: boolean }): void;
  /** From the next turn on. The model is not asked anything for it. */
  adjust(wish: TurnOptions): Promise<void>;
  /** Whether the transcript that was taken up has a message, by the `uuid` that it was sent with. Known once it is ready. */
  remembers(uuid: string): boolean;
  /** Takes a message back that the model has not been given. False if it has. */
  takeBack(uuid: string): Promise<boolean>;
  /**
   * Ends the turn that is running, if one is, as soon as can be; resolves after its `turn_ended`. Background tasks go on, and
   * messages that were not taken begin a turn of their own.
   */
  interrupt(): Promise<void>;
  /** Stops a background task by its id. */
  stopTask(id: string): Promise<void>;
  /**
   * Resolves when the transcript store has a call, by the model's id, so that its result reaches the model whatever happens;
   * or after a moment, since a database that does not answer must not stop the agent.
   */
  kept(toolUseId: string): Promise<void>;
  /** Resolves when the transcript store has all calls and results of the turn so far, or after a moment. */
  caughtUp(): Promise<void>;
  /** Resolves once all that the transcript store was given is stored; rejects if some of it could not be. */
  flush(): Promise<void>;
  /**
   * Ends the process and its children; resolves when they are gone. Idempotent. A turn that is `left` stays open in the
   * transcript, for a later process to go on with (`goOn`). One that is `lost` is somebody else's: nothing is waited for.
   */
  close(turn?: "ended" | "left" | "lost"): Promise<void>;
}

/** Content as the model takes it: files have been read into it. */
export type ModelContent = Exclude<UserContent, { source: { type: "file" } }>;
