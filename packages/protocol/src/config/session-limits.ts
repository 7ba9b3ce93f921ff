import { z } from "zod";
import { limits, type Limits } from "./limits.ts";

const sessionLimits = z.strictObject({ turn: limits.optional(), session: limits.optional() });

/** A session's own limits, out of its metadata; undefined if they cannot be parsed. */
export function parseSessionLimits(text: string): { turn?: Limits; session?: Limits } | undefined {
  try {
    const { turn, session } = sessionLimits.parse(JSON.parse(text));
    return { ...(turn && { turn }), ...(session && { session }) };
  } catch {
    return undefined;
  }
}
