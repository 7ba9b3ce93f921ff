import { z } from "zod";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const EXPECTED = "expected a duration such as 500ms, 30s, 5m, 2h or 1d";

/** The JSON Schema format of a duration. */
export const DURATION_FORMAT = "tandem-duration";

// A timer of more than 2^31 ms fires at once.
const MAX_DAYS = 24;

function toMilliseconds(text: string): number {
  const [, amount, unit] = FORM.exec(text) ?? [];
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

const text = z
  .string({ error: EXPECTED })
  .regex(FORM, EXPECTED)
  .refine((text) => !FORM.test(text) || toMilliseconds(text) <= MAX_DAYS * UNITS.d, `expected at most ${MAX_DAYS}d`);

/** A duration as people write it (`500ms`, `30s`, `5m`, `2h`, `1d`), parsed into milliseconds. */
export const duration = text.meta({ format: DURATION_FORMAT }).transform(toMilliseconds);

/** A positive duration: with zero, every deadline would expire at once. */
export const deadline = text
  .refine((text) => !FORM.test(text) || toMilliseconds(text) > 0, "expected a duration longer than zero")
  .meta({ format: DURATION_FORMAT })
  .transform(toMilliseconds);

/** Formats a duration in the largest exact unit. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (milliseconds >= UNITS[unit] && milliseconds % UNITS[unit] === 0) return `${milliseconds / UNITS[unit]}${unit}`;
  }
  return `${milliseconds}ms`;
}
