import { z } from "zod";
import { keptRule, PERMISSION_MODES, rule, RULE_SCOPES, verdict } from "../../config/rule.ts";
import { deletedOf, listOf } from "../page.ts";

const place = {
  scope: z.enum(RULE_SCOPES).describe("Owner of the rule: a project, an agent, a session or the user."),
  of: z.string().min(1).max(4_096).optional().describe("The project's folder, the agent's or the session's id."),
};

const considered = z.object({ rule: keptRule, fit: z.enum(["yes", "maybe", "no"]), why: z.string() });

const testedCall = z
  .object({
    verdict,
    parts: z.array(
      z.object({
        what: z.string(),
        verdict: verdict.optional(),
        considered: z.array(considered),
        neutral: z.boolean().describe("It has no effect itself: without a matching rule, it needs no approval."),
      }),
    ),
    suggestion: rule.optional().describe('The rule that "always allow" would save.'),
  })
  .meta({ id: "TestedCall" });
export type TestedCall = z.infer<typeof testedCall>;

export const rulesApi = {
  "rules.list": { query: z.strictObject({ scope: place.scope.optional(), of: place.of }), response: listOf(keptRule) },
  "rules.create": {
    body: rule.extend({ ...place, scope: place.scope.default("user") }).meta({ id: "CreateRule" }),
    response: keptRule,
  },
  "rules.test": {
    body: z
      .strictObject({
        call: z
          .string()
          .min(1)
          .max(100_000)
          .describe("Such as `Bash(git push)`, `Edit(src/a.ts)`, `mcp__github__merge`."),
        session_id: z.string().optional().describe("The session whose folder, agent, mode and rules apply."),
        agent_id: z.string().optional(),
        folder: z.string().optional().describe("Without a session, the project's."),
        mode: z.enum(PERMISSION_MODES).optional(),
      })
      .meta({ id: "TestRule" }),
    response: testedCall,
  },
  "rules.delete": { response: deletedOf("rule_deleted") },
};
