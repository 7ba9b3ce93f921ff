import type { CassetteBlock } from "./cassette.ts";

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/**
 * The CRC-32 of a tool's result. It shows that a result was changed after the recording, even if every copy of it in the file
 * was changed.
 */
export function resultChecksum(content: readonly CassetteBlock[]): string {
  let value = 0xffffffff;
  for (const byte of new TextEncoder().encode(JSON.stringify(inOrder(content)))) {
    value = TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  }
  return ((value ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, item]) => [key, inOrder(item)]);
}
