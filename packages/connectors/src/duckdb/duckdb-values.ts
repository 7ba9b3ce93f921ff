import {
  DuckDBBlobValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  JsonDuckDBValueConverter,
  type DuckDBType,
  type DuckDBValue,
} from "@duckdb/node-api";
import type { Value } from "../connection.ts";

const TIMESTAMPS = [
  DuckDBTimestampValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
];
const NESTED = /^(STRUCT|MAP|UNION|LIST|ARRAY)\b|\]$/;

export function toValue(value: DuckDBValue, type: DuckDBType): Value {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof DuckDBBlobValue) return `\\x${Buffer.from(value.bytes).toString("hex")}`;
  // As an instant in UTC, independent of the machine's time zone.
  if (value instanceof DuckDBTimestampTZValue) return `${iso(new DuckDBTimestampValue(value.micros))}Z`;
  if (TIMESTAMPS.some((kind) => value instanceof kind)) return iso(value);
  if (NESTED.test(String(type))) return JSON.stringify(JsonDuckDBValueConverter(value, type, JsonDuckDBValueConverter));
  return String(value);
}

const iso = (value: { toString(): string }): string => value.toString().replace(" ", "T");
