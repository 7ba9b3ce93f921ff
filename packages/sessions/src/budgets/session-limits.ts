import { BUDGET_UNITS, limits as limitsSchema, SESSION_METADATA, type Limits } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { z } from "zod";

const sessionLimits = z.strictObject({ turn: limitsSchema.optional(), session: limitsSchema.optional() });

/** A session's own limits; undefined if they cannot be parsed. */
export function parseSessionLimits(text: string): { turn?: Limits; session?: Limits } | undefined {
  try {
    const { turn, session } = sessionLimits.parse(JSON.parse(text));
    return { ...(turn && { turn }), ...(session && { session }) };
  } catch {
    return undefined;
  }
}

/** Limits of a turn and of the session: clients may lower the configured limits, not raise them. */
export function limitsOfSession(
  { metadata }: Pick<SessionRow, "metadata">,
  allowed: { turn: Limits; session: Limits },
): { turn: Limits; session: Limits } {
  const own = parseSessionLimits(metadata[SESSION_METADATA.limits] ?? "{}");
  return { turn: smaller(allowed.turn, own?.turn), session: smaller(allowed.session, own?.session) };
}

function smaller(allowed: Limits, own: Limits = {}): Limits {
  const units = BUDGET_UNITS.flatMap((unit) => {
    const limit = Math.min(allowed[unit] ?? Infinity, own[unit] ?? Infinity);
    return limit === Infinity ? [] : [[unit, limit]];
  });
  return Object.fromEntries(units) as Limits;
}
