import { FORWARDED_HEADER } from "../../request/forwarded-id.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** Budgets and the kill switch. */
export const budgetRoutes: Route[] = [
  jsonRoute("budgets.list", {
    scope: "read",
    at: "here",
    summary: "Show the spending, reservations and limits of the day, the project and the agents",
    handle: async ({ engine }) => ({ data: await engine.budgets.list() }),
  }),
  jsonRoute("budgets.set", {
    scope: "admin",
    at: "here",
    summary: "Override the configured limit of an agent, a project, a day or one session; without `of`, of all of them",
    handle: async ({ engine, token, body: { scope, of, limits } }) => ({
      data: await engine.budgets.set(scope, of, limits, token.name),
    }),
  }),
  jsonRoute("budgets.session", {
    scope: "read",
    at: "here",
    summary: "Show a session's spending, reservations and limits, and the limits that it shares with others",
    handle: async ({ engine, params }) => ({ data: await engine.budgets.session(params.session_id) }),
  }),
  jsonRoute("emergency.state", {
    scope: "read",
    at: "here",
    summary: "Show whether everything is stopped",
    handle: async ({ engine }) => ({ stopped: (await engine.killSwitch.state()) ?? null }),
  }),
  jsonRoute("emergency.stop", {
    scope: "run",
    at: "each",
    summary: "Stop everything: interrupt every turn, end every process, start nothing until `/v1/resume`",
    handle: async ({ engine, token, body, header }) => {
      // For a forwarded request, the first server has stored the change; this process only applies it.
      const known = header(FORWARDED_HEADER) === undefined ? undefined : await engine.killSwitch.state();
      if (known) return { stopped: known, interrupted: await engine.killSwitch.heed() };
      const { interrupted, ...halt } = await engine.killSwitch.stop(token.name, body.reason ?? null);
      return { stopped: halt, interrupted };
    },
  }),
  jsonRoute("emergency.resume", {
    scope: "admin",
    at: "each",
    summary: "Resume after a stop of everything: waiting messages start their turns",
    handle: async ({ engine, token, header }) => {
      if (header(FORWARDED_HEADER) === undefined) await engine.killSwitch.resume(token.name);
      else await engine.killSwitch.heed();
      return { stopped: null };
    },
  }),
];
