import { auditEntry, auditHead, auditVerdict, type AuditEntry } from "@tandem/protocol";
import type { Audit } from "@tandem/sessions";
import { z } from "zod";
import type { ServerConnection } from "./server-connection.ts";

const page = z.object({ data: z.array(auditEntry), next_page: z.string().nullable() });
const lastLine = auditHead.extend({ type: z.literal("tandem_audit_head") });

/** The audit of the server that is up; what it enters of itself, it enters there. */
export function serverAudit(server: ServerConnection): Omit<Audit, "note"> {
  return {
    async list({ limit, cursor, order, session, actor, kinds, created }) {
      const { data, next_page: next } = await server.call("GET", "/v1/audit", {
        schema: page,
        query: {
          ...{ limit, page: cursor, order, session_id: session, actor, kinds },
          "created_at[gte]": created?.gte,
          "created_at[lt]": created?.lt,
        },
      });
      return { data, next, previous: null };
    },
    async export() {
      const lines = (await server.text("/v1/audit/export")).trimEnd().split("\n");
      const head = lastLine.parse(JSON.parse(lines.at(-1) ?? ""));
      return { head: { seq: head.seq, hash: head.hash }, entries: entriesOf(lines.slice(1, -1)) };
    },
    verify: (noted) => server.call("POST", "/v1/audit/verify", { schema: auditVerdict, body: { noted } }),
  };
}

async function* entriesOf(lines: readonly string[]): AsyncGenerator<AuditEntry> {
  for (const line of lines) yield auditEntry.parse(JSON.parse(line));
}
