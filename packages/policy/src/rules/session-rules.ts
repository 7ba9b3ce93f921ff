import type { Rule, RuleScope, ThreadId, Verdict } from "@tandem/protocol";

/** A tool call that has not run yet. */
export interface JudgedCall {
  /** Claude Code's name, or the bare name of an MCP tool. */
  name: string;
  mcpServer?: string;
  input: Record<string, unknown>;
  /** Null on the primary thread. */
  thread: ThreadId | null;
  /** The agent of a subagent's thread, if it is in the roster. Its own rules and its caller's both apply. */
  agentId?: string | undefined;
  /** The subagent's thread that a message goes to. */
  reaches?: ThreadId | undefined;
  /** A worker of a self-hosted environment runs it, so that its paths are those of another machine. */
  isRemote?: true;
}

/**
 * The rules of one session as they are now: a change applies to the session's next call. Judging is synchronous and never
 * throws; uncertain calls ask.
 */
export interface SessionRules {
  /** Undefined if no rule matches: then the agent's policy and the session's mode decide. */
  judge(call: JudgedCall): Verdict | undefined;
  /** The narrowest useful rule that allows this call and similar ones; undefined if none is safe. */
  suggest(call: JudgedCall): Rule | undefined;
  /** Whether this rule alone decides the call. */
  covers(rule: Rule, call: JudgedCall): boolean;
}

/** The owner of a rule: the user (`of` is null), a project's folder, an agent's id or a session's id. */
export interface RuleOwner {
  scope: RuleScope;
  of: string | null;
}
