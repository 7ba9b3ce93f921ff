import type { ColumnKind } from "./connection.ts";

const KINDS: Record<Exclude<ColumnKind, "other">, RegExp> = {
  boolean: /^(bool(ean)?|bit ?\(1\)|tinyint\(1\).*)$/,
  integer:
    /^u?(tiny|small|medium|big|huge)?int(eger)?[1248]?\b|^(small|big)?serial\d?\b|^(year|oid|xid|cid|unsigned big int)\b/,
  decimal: /^(dec(imal)?|num(eric|ber)?|real|double( precision)?|float\d?|(small)?money|bignum|fixed)\b/,
  uuid: /^(uuid|guid|uniqueidentifier)\b/,
  json: /^jsonb?\b/,
  // A calendar day.
  date: /^date(32)?$/,
  // An instant or a time of day.
  time: /^(date ?time|timestamp|time)/,
  binary: /^(bytea|(tiny|medium|long)?blob|(var)?binary|image|bit( varying)?)\b/,
  text: /^"?(character|(n?var|n|bp)?char|(tiny|medium|long|n|ci)?text|string|n?clob|name|citext|enum|set|nvarchar2?|varchar2)\b/,
};

/** Derives the kind from a type's name in any dialect. Arrays are always `other`. */
export function columnKind(type: string): ColumnKind {
  const name = type.trim().toLowerCase();
  if (name.endsWith("]")) return "other";
  const found = Object.entries(KINDS).find(([, pattern]) => pattern.test(name));
  return found ? (found[0] as ColumnKind) : "other";
}
