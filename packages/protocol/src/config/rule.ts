import { z } from "zod";
import { type PERMISSION_MODES, RULE_ACTIONS, RULE_SCOPES } from "../words.ts";

export { PERMISSION_MODES, RULE_ACTIONS, RULE_SCOPES } from "../words.ts";

// What an agent may do without asking. A rule names a tool and, if it likes, what of it: a path, a command, a domain.

export type RuleAction = (typeof RULE_ACTIONS)[number];
export type RuleScope = (typeof RULE_SCOPES)[number];
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** `{tool: "Bash", pattern: "git push *", action: "ask"}`. Without a pattern, every call of the tool. */
export const rule = z
  .strictObject({
    tool: z
      .string()
      .min(1)
      .describe(
        "A tool (`Bash`, `Edit`), a kind of tools (`edit`, `read`, `web`), `mcp__SERVER__TOOL` with `*`, or `*`.",
      ),
    pattern: z.string().min(1).optional().describe("Which calls: a path, a command, a domain, with `*` and `**`."),
    action: z.enum(RULE_ACTIONS),
    reason: z.string().max(500).optional().describe("For people: why it is there."),
  })
  .meta({ id: "Rule" });
export type Rule = z.infer<typeof rule>;

/** A rule where it is kept. `id` is null for those that stand in a file. */
export const keptRule = rule
  .extend({
    id: z.string().nullable(),
    scope: z.enum(RULE_SCOPES),
    /** The project's folder, the agent's or the session's id; null for the user's own. */
    of: z.string().nullable(),
    /** `tandem.yaml`, or who saved it. */
    source: z.string(),
    created_at: z.string().nullable(),
  })
  .meta({ id: "KeptRule" });
export type KeptRule = z.infer<typeof keptRule>;

/** The decision about a call and the reason for it: for people, for the log and for `tandem rules test`. */
export const verdict = z
  .object({
    action: z.enum(RULE_ACTIONS),
    /** A sentence. */
    why: z.string(),
    by: z.enum(["rule", "policy", "mode", "caution", "hook", "grant"]),
    /** The rule that decided; absent where a mode, the agent's policy or caution did. */
    rule: keptRule.pick({ id: true, scope: true, tool: true, pattern: true, action: true, source: true }).optional(),
  })
  .meta({ id: "Verdict" });
export type Verdict = z.infer<typeof verdict>;
