import type { RuleBook, RulePlace } from "@tandem/policy";
import type { KeptRule, PermissionMode, Rule, TestedCall } from "@tandem/protocol";

export type { TestedCall } from "@tandem/protocol";

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
