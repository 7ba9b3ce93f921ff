import { RequestError } from "@tandem/protocol";
import type { Span } from "../operations/read-page.ts";

/** Times are stored in milliseconds and returned in one canonical format. */
export function toMs(time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) {
    throw new RequestError("invalid_request", `"${time}" is not a time.`, {
      fix: "Write it as in 2026-01-31T12:00:00Z.",
    });
  }
  return ms;
}

export const toIso = (ms: number): string => new Date(ms).toISOString();

export const toMsOrNull = (time: string | null): number | null => (time === null ? null : toMs(time));
export const toIsoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

export function toSpan(span: { gt?: string; gte?: string; lt?: string; lte?: string } | undefined): Span | undefined {
  if (!span) return undefined;
  const bounds = Object.entries(span).flatMap(([name, time]) => (time === undefined ? [] : [[name, toMs(time)]]));
  return Object.fromEntries(bounds) as Span;
}
