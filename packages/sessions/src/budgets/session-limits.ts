import { BUDGET_UNITS, parseSessionLimits, SESSION_METADATA, type Limits } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";

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
