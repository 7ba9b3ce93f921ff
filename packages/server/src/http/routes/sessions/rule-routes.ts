import { jsonRoute, type Route } from "../../route.ts";

/** Rules for tool calls: allow, ask or deny. */
export const ruleRoutes: Route[] = [
  jsonRoute("rules.list", {
    scope: "read",
    at: "here",
    summary: "List rules: those of the project's file, then the others by age",
    handle: async ({ engine, query: { scope, of = null } }) => ({
      data: await engine.rules.list(scope && { scope, of }),
    }),
  }),
  jsonRoute("rules.create", {
    scope: "admin",
    at: "here",
    summary: "Add a rule; it applies to the next call of every session in its scope",
    handle: ({ engine, token, body: { scope, of = null, ...given } }) =>
      engine.rules.add(given, { scope, of, by: token.name }),
  }),
  jsonRoute("rules.test", {
    scope: "read",
    at: "here",
    summary: "Test a call: show how it would be decided, and why; nothing is run",
    handle: ({ engine, body: { call, session_id: sessionId, agent_id: agentId, folder, mode } }) =>
      engine.rules.test(call, { sessionId, agentId, folder, mode }),
  }),
  jsonRoute("rules.delete", {
    scope: "admin",
    at: "here",
    summary: "Remove a rule",
    handle: async ({ engine, params, token }) => {
      await engine.rules.remove(params.rule_id, token.name);
      return { type: "rule_deleted" as const, id: params.rule_id };
    },
  }),
];
