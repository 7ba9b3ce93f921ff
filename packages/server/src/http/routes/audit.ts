import { AUDIT_KINDS, auditEntry, auditHead, auditVerdict } from "@tandem/protocol";
import { writeAuditFile } from "@tandem/storage";
import { z } from "zod";
import { downloadRoute, jsonRoute, type Route } from "../route.ts";
import { createdBetween, nextPage, order, pageOf, pageQuery, toPageQuery, toSpan } from "../schemas/page.ts";

/** Who did what. Only for those who may do all: it is about everybody. */
export const auditRoutes: Route[] = [
  jsonRoute({
    name: "audit.list",
    method: "GET",
    path: "/v1/audit",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "List who did what, newest first",
    query: z.strictObject({
      ...pageQuery,
      ...order,
      ...createdBetween,
      session_id: z.string().optional(),
      actor: z.string().optional(),
      kinds: z.array(z.enum(AUDIT_KINDS)).optional(),
    }),
    response: pageOf(auditEntry),
    handle: async ({ engine, query }) => {
      const { session_id: session, actor, kinds } = query;
      return nextPage(
        await engine.audit.list({ ...toPageQuery(query), created: toSpan(query), session, actor, kinds }),
      );
    },
  }),
  downloadRoute({
    name: "audit.export",
    method: "GET",
    path: "/v1/audit/export",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Download the whole audit as lines of JSON, with its head at the end",
    handle: async ({ engine }) => {
      const { head, entries } = await engine.audit.export();
      const lines: string[] = [];
      for await (const line of writeAuditFile(head, entries)) lines.push(line);
      const content = Buffer.from(`${lines.join("\n")}\n`);
      return {
        filename: `tandem-audit-${head.seq}.jsonl`,
        mimeType: "application/x-ndjson",
        size: content.length,
        read: async () => content,
      };
    },
  }),
  jsonRoute({
    name: "audit.verify",
    method: "POST",
    path: "/v1/audit/verify",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Go through the audit's hashes, and say which entry is the first that is not as it was",
    body: z
      .strictObject({
        noted: z
          .array(auditHead)
          .max(100)
          .default([])
          .describe("Heads that were seen earlier: without one, a cut-off end cannot be told."),
      })
      .meta({ id: "AuditVerify" }),
    response: auditVerdict,
    handle: ({ engine, body }) => engine.audit.verify(body.noted),
  }),
];
