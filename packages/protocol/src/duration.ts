import { z } from "zod";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time as people write it (`500ms`, `30s`, `5m`, `2h`, `1d`), read into milliseconds. */
export const duration = z
  .string()
  .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, "expected a duration such as 500ms, 30s, 5m, 2h or 1d")
  .transform((text) => {
    const unit = /[a-z]+$/.exec(text)![0] as keyof typeof UNITS;
    return Math.round(Number.parseFloat(text) * UNITS[unit]);
  });
