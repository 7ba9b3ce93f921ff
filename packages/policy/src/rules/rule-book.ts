import type { Rule, RuleScope, ThreadId, Verdict } from "@tandem/protocol";

/** A call before it is made. */
export interface JudgedCall {
  /** Claude Code's name, or the bare name of an MCP tool. */
  name: string;
  mcpServer?: string;
  input: Record<string, unknown>;
  /** Null on the primary thread. */
  thread: ThreadId | null;
  /** The agent of a subagent's thread, where it is one of the roster: it is held by its own rules and its caller's. */
  agentId?: string | undefined;
}

/**
 * The rules that hold for one session, as they are now: a rule that is added or removed while it runs counts for the next
 * call. Judging is synchronous and does not throw; what cannot be judged with certainty is asked.
 */
export interface RuleBook {
  /** Undefined where no rule says anything: then the agent's policy and the session's mode decide. */
  judge(call: JudgedCall): Verdict | undefined;
  /** The narrowest useful rule that would allow this call and its like; undefined where none would be safe. */
  suggest(call: JudgedCall): Rule | undefined;
  /** Whether this rule alone would decide the call as it says. */
  covers(rule: Rule, call: JudgedCall): boolean;
}

/** Whose a rule is: the user's own (`of` is null), a project's folder, an agent's or a session's id. */
export interface RulePlace {
  scope: RuleScope;
  of: string | null;
}
