import { GENESIS } from "../../audit/audit-hash.ts";
import type { Dialect } from "./dialect.ts";

/** The hash chain, its head, and a cursor per session for the audited part of its log. */
export const auditSchema = ({ id, int, strict }: Dialect): string[] => [
  `create table audit (
    seq ${int} primary key,
    at ${int} not null,
    actor text not null,
    kind text not null,
    session ${id},
    details text not null,
    previous ${id} not null,
    hash ${id} not null
  ) ${strict}`,
  "create index audit_session on audit (session, seq)",
  "create index audit_actor on audit (actor, seq)",
  "create index audit_at on audit (at)",
  `create table audit_head (seq ${int} not null, hash ${id} not null) ${strict}`,
  `insert into audit_head (seq, hash) values (0, '${GENESIS}')`,
  `create table audit_cursor (session ${id} primary key, seq ${int} not null) ${strict}`,
];
