import { keptRule, PERMISSION_MODES, rule, RULE_ACTIONS, RULE_SCOPES } from "@tandem/protocol";
import type { TestedCall } from "@tandem/sessions";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { deletedOf, listOf } from "../schemas/page.ts";

const place = {
  scope: z.enum(RULE_SCOPES).describe("Whose it is."),
  of: z.string().min(1).max(4_096).optional().describe("The project's folder, the agent's or the session's id."),
};

const verdict = z
  .object({
    action: z.enum(RULE_ACTIONS),
    why: z.string(),
    by: z.enum(["rule", "policy", "mode", "caution", "hook", "grant"]),
    rule: keptRule.pick({ id: true, scope: true, tool: true, pattern: true, action: true, source: true }).optional(),
  })
  .meta({ id: "Verdict" });

const considered = z.object({ rule: keptRule, fit: z.enum(["yes", "maybe", "no"]), why: z.string() });

const testedCall = z
  .object({
    verdict,
    parts: z.array(
      z.object({
        what: z.string(),
        verdict: verdict.optional(),
        considered: z.array(considered),
        neutral: z.boolean().describe("It does nothing by itself: without a rule against it, it is no reason to ask."),
      }),
    ),
    suggestion: rule.optional().describe("What an answer for more than once would save."),
  })
  .meta({ id: "TestedCall" }) as unknown as z.ZodType<TestedCall>;

/** What agents may do without asking, must ask for, and may not do. */
export const ruleRoutes: Route[] = [
  jsonRoute({
    name: "rules.list",
    method: "GET",
    path: "/v1/rules",
    scope: "read",
    at: "here",
    extension: true,
    summary: "List rules: those of the project's file, then the others by age",
    query: z.strictObject({ scope: place.scope.optional(), of: place.of }),
    response: listOf(keptRule),
    handle: async ({ engine, query: { scope, of = null } }) => ({
      data: await engine.rules.list(scope && { scope, of }),
    }),
  }),
  jsonRoute({
    name: "rules.create",
    method: "POST",
    path: "/v1/rules",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Add a rule; it counts for the next call of every session that it is about",
    body: rule.extend({ ...place, scope: place.scope.default("user") }).meta({ id: "CreateRule" }),
    response: keptRule,
    handle: ({ engine, token, body: { scope, of = null, ...given } }) =>
      engine.rules.add(given, { scope, of, by: token.name }),
  }),
  jsonRoute({
    name: "rules.test",
    method: "POST",
    path: "/v1/rules/test",
    scope: "read",
    at: "here",
    extension: true,
    summary: "Say what would become of a call, and why; nothing is run",
    body: z
      .strictObject({
        call: z
          .string()
          .min(1)
          .max(100_000)
          .describe("Such as `Bash(git push)`, `Edit(src/a.ts)`, `mcp__github__merge`."),
        session_id: z.string().optional().describe("Whose folder, agent, mode and rules count."),
        agent_id: z.string().optional(),
        folder: z.string().optional().describe("Without a session, the project's."),
        mode: z.enum(PERMISSION_MODES).optional(),
      })
      .meta({ id: "TestRule" }),
    response: testedCall,
    handle: ({ engine, body: { call, session_id: sessionId, agent_id: agentId, folder, mode } }) =>
      engine.rules.test(call, { sessionId, agentId, folder, mode }),
  }),
  jsonRoute({
    name: "rules.delete",
    method: "DELETE",
    path: "/v1/rules/:rule_id",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Remove a rule",
    response: deletedOf("rule_deleted"),
    handle: async ({ engine, params, token }) => {
      await engine.rules.remove(params.rule_id, token.name);
      return { type: "rule_deleted" as const, id: params.rule_id };
    },
  }),
];
