import { z } from "zod";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const EXPECTED = "expected a duration such as 500ms, 30s, 5m, 2h or 1d";

/** The JSON Schema format of such a text. */
export const DURATION_FORMAT = "tandem-duration";

// A timer of more than 2^31 ms fires at once: a patience of a month would be none at all.
const LONGEST_DAYS = 24;

function toMilliseconds(text: string): number {
  const [, amount, unit] = FORM.exec(text) ?? [];
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

const text = z
  .string({ error: EXPECTED })
  .regex(FORM, EXPECTED)
  .refine(
    (text) => !FORM.test(text) || toMilliseconds(text) <= LONGEST_DAYS * UNITS.d,
    `expected at most ${LONGEST_DAYS}d`,
  );

/** A length of time as people write it (`500ms`, `30s`, `5m`, `2h`, `1d`), read into milliseconds. */
export const duration = text.meta({ format: DURATION_FORMAT }).transform(toMilliseconds);

/** A duration that something must fit into: zero would make it fail always. */
export const deadline = text
  .refine((text) => !FORM.test(text) || toMilliseconds(text) > 0, "expected a duration longer than zero")
  .meta({ format: DURATION_FORMAT })
  .transform(toMilliseconds);

/** The other way: the shortest way to write it without losing anything. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (milliseconds >= UNITS[unit] && milliseconds % UNITS[unit] === 0) return `${milliseconds / UNITS[unit]}${unit}`;
  }
  return `${milliseconds}ms`;
}
