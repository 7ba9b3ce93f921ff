import { hasScope } from "../../access/authorize.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** Pending approvals of all sessions, and answers under the token's name. */
export const approvalRoutes: Route[] = [
  jsonRoute("approvals.list", {
    scope: "read",
    at: "here",
    summary: "List pending or resolved approvals of all sessions, newest first",
    handle: async ({ engine, query }) => {
      const { limit, page, status, session_id: session } = query;
      const { data, next } = await engine.approvals.list({
        status,
        limit,
        ...(page !== undefined && { cursor: page }),
        ...(session !== undefined && { session }),
      });
      return { data, next_page: next };
    },
  }),
  jsonRoute("approvals.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve an approval, a plan or a question by the id of its call's event",
    handle: ({ engine, params }) => engine.approvals.get(params.approval_id),
  }),
  jsonRoute("approvals.answer", {
    scope: "run",
    at: "here",
    summary:
      "Answer an approval, a plan or a question: once, for the session or always, with another input, with the mode after a plan; the first answer counts",
    handle: ({ engine, params, body, token }) =>
      engine.approvals.answer(params.approval_id, body, token.name, hasScope(token, "admin")),
  }),
];
