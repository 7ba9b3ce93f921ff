import type { KeptRule, PermissionMode, Rule, RuleScope, ThreadId, Verdict } from "@tandem/protocol";

/** A call before it is made. */
export interface JudgedCall {
  /** Claude Code's name, or the bare name of an MCP tool. */
  name: string;
  mcpServer?: string;
  input: Record<string, unknown>;
  /** Null on the primary thread. */
  thread: ThreadId | null;
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
}

/** Rules as people keep them. */
export interface Rules {
  /** Those of files come first, in their order; the others by age. */
  list(of?: { scope: RuleScope; of: string | null }): Promise<KeptRule[]>;
  add(rule: Rule, place: { scope: RuleScope; of: string | null; by: string }): Promise<KeptRule>;
  remove(id: string): Promise<void>;
  /** For a session: the user's, its project's, its agent's and its own. */
  bookOf(session: { id: string; agentId: string; folder: string }): Promise<RuleBook>;
  /** What would become of a call written as `Bash(git push)`, `Edit(src/a.ts)` or `mcp__github__merge`, and why. */
  test(
    call: string,
    session: { folder: string; mode: PermissionMode; agentId?: string; sessionId?: string },
  ): Promise<Verdict & { considered: { rule: KeptRule; matched: boolean; why: string }[] }>;
}
