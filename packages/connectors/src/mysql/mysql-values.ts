import type { FieldPacket } from "mysql2";
import type { Value } from "../connection.ts";

/** Protocol type numbers. */
const TYPE = { float: 4, double: 5, timestamp: 7, datetime: 12, year: 13, bit: 16, json: 245, geometry: 255 };
const INTEGERS = new Set([1, 2, 3, 8, 9, TYPE.year]);
const TEXTS = new Set([15, 249, 250, 251, 252, 253, 254]);
const BINARY = 63;

/** Converts MySQL's bytes, which are text except for binary columns. */
export function toValue(bytes: Buffer | null, field: FieldPacket): Value {
  if (bytes === null) return null;
  const type = field.columnType ?? 0;
  if (type === TYPE.bit) return toInteger(String(bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)));
  if (type === TYPE.geometry || (TEXTS.has(type) && field.characterSet === BINARY)) {
    return `\\x${bytes.toString("hex")}`;
  }
  const text = bytes.toString("utf8");
  if (INTEGERS.has(type)) return toInteger(text);
  if (type === TYPE.float || type === TYPE.double) return Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === TYPE.datetime) return text.replace(" ", "T");
  // The session's time zone is UTC.
  if (type === TYPE.timestamp) return `${text.replace(" ", "T")}Z`;
  return text;
}

function toInteger(text: string): Value {
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
