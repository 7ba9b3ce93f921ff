import { approval, approvalAnswer, APPROVAL_STATUSES } from "@tandem/protocol";
import { z } from "zod";
import { hasScope } from "../authorize.ts";
import { jsonRoute, type Route } from "../route.ts";
import { pageOf, pageQuery } from "../schemas/page.ts";

/** What waits for a person in any session, and answering it in the name of the token. */
export const approvalRoutes: Route[] = [
  jsonRoute({
    name: "approvals.list",
    method: "GET",
    path: "/v1/approvals",
    scope: "read",
    at: "here",
    extension: true,
    summary: "List what waits for a person, over all sessions, or what has; the newest first",
    query: z.strictObject({
      ...pageQuery,
      status: z.enum(APPROVAL_STATUSES).default("pending"),
      session_id: z.string().optional(),
    }),
    response: pageOf(approval),
    handle: async ({ engine, query }) => {
      const { limit, page, status, session_id: session } = query;
      const { data, next } = await engine.approvals.list({
        ...{ status, limit },
        ...(page !== undefined && { cursor: page }),
        ...(session !== undefined && { session }),
      });
      return { data, next_page: next };
    },
  }),
  jsonRoute({
    name: "approvals.retrieve",
    method: "GET",
    path: "/v1/approvals/:approval_id",
    scope: "read",
    at: "here",
    extension: true,
    summary: "Retrieve an approval, a plan or a question by the id of its call's event",
    response: approval,
    handle: ({ engine, params }) => engine.approvals.get(params.approval_id),
  }),
  jsonRoute({
    name: "approvals.answer",
    method: "POST",
    path: "/v1/approvals/:approval_id",
    scope: "run",
    at: "here",
    extension: true,
    summary:
      "Answer it: once, for the session or always, with another input, with the mode after a plan; the first one counts",
    body: approvalAnswer,
    response: approval,
    handle: ({ engine, params, body, token }) =>
      engine.approvals.answer(params.approval_id, body, token.name, hasScope(token, "admin")),
  }),
];
