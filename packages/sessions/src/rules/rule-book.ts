import type { KeptRule, PermissionMode, Rule, RuleScope, ThreadId, Verdict } from "@tandem/protocol";
import type { JudgedPart } from "./judge-parts.ts";

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

/** Rules as people keep them. */
export interface Rules {
  /** Those of files come first, in their order; the others by age. */
  list(of?: RulePlace): Promise<KeptRule[]>;
  /** Refused with a sentence where it could not be held. What is kept already is not kept twice. */
  add(rule: Rule, place: RulePlace & { by: string }): Promise<KeptRule>;
  /** `by` is who asks for it. */
  remove(id: string, by?: string): Promise<void>;
  /** Takes away the rules of a session or an agent that is no more. */
  forget(place: RulePlace): Promise<void>;
  /** For a session: the user's, its project's, its agent's and its own. */
  bookOf(session: { id: string; agentId: string; folder: string }): Promise<RuleBook>;
  /** What would become of a call written as `Bash(git push)`, `Edit(src/a.ts)` or `mcp__github__merge`, and why. */
  test(call: string, session: TestedSession): Promise<TestedCall>;
}

/** For whom a call is tried. A session brings its folder, agent and mode; without it, the project's folder and `default`. */
export interface TestedSession {
  sessionId?: string | undefined;
  agentId?: string | undefined;
  folder?: string | undefined;
  mode?: PermissionMode | undefined;
}

export interface TestedCall {
  /** What would become of it. */
  verdict: Verdict;
  /** Each thing that it does, with what every rule says of it. */
  parts: JudgedPart[];
  /** What an answer for more than once would save. */
  suggestion?: Rule;
}
