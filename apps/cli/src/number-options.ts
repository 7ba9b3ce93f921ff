import { TandemError } from "@tandem/protocol";

/** Parses a port option. 0 takes a free port. */
export function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new TandemError("usage", `--port is ${JSON.stringify(text)}.`, { fix: "Give a number from 0 to 65535." });
}

/** Parses a count from 1 to 9999. Values above 500 are reduced to 500. */
export function toCount(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Math.min(Number(text), 500);
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}.`, { fix: "Give a number from 1 to 500." });
}

/** Parses a limit of at least 1. */
export function toLimit(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}.`, {
    fix: "Give a whole number of at least 1.",
  });
}
