import { limits as limitsSchema, SESSION_METADATA, type Limits } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { z } from "zod";

const sessionLimits = z.strictObject({ turn: limitsSchema.optional(), session: limitsSchema.optional() });

/** What limits a session has of its own; undefined if they cannot be read. */
export function parseSessionLimits(text: string): { turn?: Limits; session?: Limits } | undefined {
  try {
    const { turn, session } = sessionLimits.parse(JSON.parse(text));
    return { ...(turn && { turn }), ...(session && { session }) };
  } catch {
    return undefined;
  }
}

/** What one turn of a session and the session itself may take: its own limits, and where it has none, those of the config. */
export function limitsOfSession(
  { metadata }: Pick<SessionRow, "metadata">,
  defaults: { turn: Limits; session: Limits },
): { turn: Limits; session: Limits } {
  const own = parseSessionLimits(metadata[SESSION_METADATA.limits] ?? "{}");
  return { turn: { ...defaults.turn, ...own?.turn }, session: { ...defaults.session, ...own?.session } };
}
