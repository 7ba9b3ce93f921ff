import { z } from "zod";
import { type PERMISSION_MODES, RULE_ACTIONS, RULE_SCOPES } from "../words.ts";

export { PERMISSION_MODES, RULE_ACTIONS, RULE_SCOPES } from "../words.ts";

// Permission rules. A rule names a tool and optionally a path, command or domain.

export type RuleAction = (typeof RULE_ACTIONS)[number];
export type RuleScope = (typeof RULE_SCOPES)[number];
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** For example `{tool: "Bash", pattern: "git push *", action: "ask"}`. Without a pattern it matches every call of the tool. */
export const rule = z
  .strictObject({
    tool: z
      .string()
      .min(1)
      .describe(
        "A tool (`Bash`, `Edit`), a kind of tools (`edit`, `read`, `web`), `mcp__SERVER__TOOL` with `*`, or `*`.",
      ),
    pattern: z
      .string()
      .min(1)
      .optional()
      .describe("Pattern of the calls: a path, a command or a domain, with `*` and `**`."),
    action: z.enum(RULE_ACTIONS).describe("Decision about the calls."),
    reason: z.string().max(500).optional().describe("Reason for the rule, shown to users."),
  })
  .meta({ id: "Rule" });
export type Rule = z.infer<typeof rule>;

/** A stored rule. `id` is null for rules from a file. */
export const keptRule = rule
  .extend({
    id: z.string().nullable(),
    scope: z.enum(RULE_SCOPES),
    /** The project's folder, or the id of the agent or session; null for the user's own rules. */
    of: z.string().nullable(),
    /** `tandem.yaml`, or the name of the person who saved it. */
    source: z.string(),
    created_at: z.string().nullable(),
  })
  .meta({ id: "KeptRule" });
export type KeptRule = z.infer<typeof keptRule>;

/** The decision about a call and its reason: shown to people, logged, and printed by `tandem rules test`. */
export const verdict = z
  .object({
    action: z.enum(RULE_ACTIONS),
    /** One sentence. */
    why: z.string(),
    by: z.enum(["rule", "policy", "mode", "caution", "hook", "grant"]),
    /** The deciding rule; absent if a mode, the agent's policy or a caution decided. */
    rule: keptRule.pick({ id: true, scope: true, tool: true, pattern: true, action: true, source: true }).optional(),
  })
  .meta({ id: "Verdict" });
export type Verdict = z.infer<typeof verdict>;
