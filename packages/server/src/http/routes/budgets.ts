import { budgetGauge, limits } from "@tandem/protocol";
import { z } from "zod";
import { PASSED_ON } from "../../fleet/passed-on.ts";
import { jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

const halt = z
  .object({
    at: z.string(),
    by: z.string().meta({ description: "The token's name." }),
    reason: z.string().nullable(),
  })
  .meta({ id: "Halt" });

const stopped = z.object({ stopped: halt.nullable() });

/** What may be spent, and the switch that stops everything. */
export const budgetRoutes: Route[] = [
  jsonRoute({
    name: "budgets.list",
    method: "GET",
    path: "/v1/budgets",
    scope: "read",
    at: "here",
    extension: true,
    summary: "List what the day, the project and the agents have spent, have reserved and may spend",
    response: listOf(budgetGauge),
    handle: async ({ engine }) => ({ data: await engine.budgets.list() }),
  }),
  jsonRoute({
    name: "budgets.set",
    method: "POST",
    path: "/v1/budgets",
    scope: "admin",
    at: "here",
    extension: true,
    summary:
      "Limit an agent, a project, a day or one session, in place of what the config says; without `of`, all of them",
    body: z
      .strictObject({
        scope: z.enum(["agent", "project", "day", "session"]),
        of: z.string().min(1).max(1_000).optional(),
        limits,
      })
      .meta({ id: "SetBudget" }),
    response: listOf(budgetGauge),
    handle: async ({ engine, token, body: { scope, of, limits } }) => ({
      data: await engine.budgets.set(scope, of, limits, token.name),
    }),
  }),
  jsonRoute({
    name: "budgets.session",
    method: "GET",
    path: "/v1/sessions/:session_id/budget",
    scope: "read",
    at: "here",
    extension: true,
    summary: "List what a session has spent, has reserved and may spend, and what it shares with others",
    response: listOf(budgetGauge),
    handle: async ({ engine, params }) => ({ data: await engine.budgets.session(params.session_id) }),
  }),
  jsonRoute({
    name: "emergency.state",
    method: "GET",
    path: "/v1/stop",
    scope: "read",
    at: "here",
    extension: true,
    summary: "Say whether everything is stopped",
    response: stopped,
    handle: async ({ engine }) => ({ stopped: (await engine.killSwitch.state()) ?? null }),
  }),
  jsonRoute({
    name: "emergency.stop",
    method: "POST",
    path: "/v1/stop",
    scope: "run",
    at: "each",
    extension: true,
    summary: "Stop everything: interrupt every turn, end every process, begin nothing until `/v1/resume`",
    body: z.strictObject({ reason: z.string().min(1).max(500).optional() }).default({}),
    response: z.object({ stopped: halt, interrupted: z.int() }),
    handle: async ({ engine, token, body, header }) => {
      // Whoever was asked has written it down; here it is only to be heeded.
      const known = header(PASSED_ON) === undefined ? undefined : await engine.killSwitch.state();
      if (known) return { stopped: known, interrupted: await engine.killSwitch.heed() };
      const { interrupted, ...halt } = await engine.killSwitch.stop(token.name, body.reason ?? null);
      return { stopped: halt, interrupted };
    },
  }),
  jsonRoute({
    name: "emergency.resume",
    method: "POST",
    path: "/v1/resume",
    scope: "admin",
    at: "each",
    extension: true,
    summary: "Let everything go on that was stopped: messages that wait begin their turns",
    response: stopped,
    handle: async ({ engine, token, header }) => {
      if (header(PASSED_ON) === undefined) await engine.killSwitch.resume(token.name);
      else await engine.killSwitch.heed();
      return { stopped: null };
    },
  }),
];
