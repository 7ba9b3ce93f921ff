import type { Value } from "../connection.ts";

/** Fixed type OIDs. */
const OID = {
  bool: 16,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
};

/** Converts Postgres' text format, with ISO dates, UTC and hex binary. */
export function toValue(text: string | null, type: number): Value {
  if (text === null) return null;
  switch (type) {
    case OID.bool:
      return text === "t";
    case OID.int2:
    case OID.int4:
    case OID.oid:
      return Number(text);
    case OID.int8:
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case OID.float4:
    case OID.float8:
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case OID.timestamp:
      return text.replace(" ", "T");
    case OID.timestamptz:
      return text.replace(" ", "T").replace(/\+00$/, "Z");
    default:
      return text;
  }
}
