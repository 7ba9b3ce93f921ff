import { TandemError } from "@tandem/protocol";

/** Parses a port option. 0 takes a free port. */
export function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new TandemError("usage", `--port is ${JSON.stringify(text)}.`, { fix: "Give a number from 0 to 65535." });
}
