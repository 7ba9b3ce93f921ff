import type { RuleBook, RuleOwner } from "@tandem/policy";
import type { KeptRule, PermissionMode, Rule, TestedCall } from "@tandem/protocol";

/** Stored permission rules. */
export interface Rules {
  /** Rules of files come first, in order; the others by age. */
  list(of?: RuleOwner): Promise<KeptRule[]>;
  /** Rejects a rule that cannot be enforced. Idempotent for an existing rule. */
  add(rule: Rule, owner: RuleOwner & { by: string }): Promise<KeptRule>;
  /** `by` is the caller's name. */
  remove(id: string, by?: string): Promise<void>;
  /** Removes the rules of a deleted session or agent. */
  forget(owner: RuleOwner): Promise<void>;
  /** The rules of a session: the user's, its project's, its agent's and its own. */
  bookOf(session: { id: string; agentId: string; folder: string }): Promise<RuleBook>;
  /** Judges a call written as `Bash(git push)`, `Edit(src/a.ts)` or `mcp__github__merge`, with the reason. */
  test(call: string, session: TestedSession): Promise<TestedCall>;
}

/** The session for a test. It provides folder, agent and mode; by default the project's folder and `default`. */
export interface TestedSession {
  sessionId?: string | undefined;
  agentId?: string | undefined;
  folder?: string | undefined;
  mode?: PermissionMode | undefined;
}
