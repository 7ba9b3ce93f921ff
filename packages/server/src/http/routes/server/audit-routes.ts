import { writeAuditFile } from "@tandem/storage";
import { downloadRoute, jsonRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery, toSpan } from "../../request/page-query.ts";

/** The audit log. It covers all users, so it needs `admin`. */
export const auditRoutes: Route[] = [
  jsonRoute("audit.list", {
    scope: "admin",
    at: "here",
    summary: "List audit entries, newest first",
    handle: async ({ engine, query }) => {
      const { session_id: session, actor, kinds } = query;
      return nextPage(
        await engine.audit.list({ ...toPageQuery(query), created: toSpan(query), session, actor, kinds }),
      );
    },
  }),
  downloadRoute("audit.export", {
    scope: "admin",
    at: "here",
    summary: "Download the whole audit log as JSON lines, with its head at the end",
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
  jsonRoute("audit.verify", {
    scope: "admin",
    at: "here",
    summary: "Verify the hash chain of the audit log, and return the first altered entry",
    handle: ({ engine, body }) => engine.audit.verify(body.noted),
  }),
];
