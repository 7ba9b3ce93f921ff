import { TandemError } from "@tandem/protocol";

const UNITS = { h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 } as const;
const MAX_MS = 10 * UNITS.y;

/** Parses `90d` or `never` to a time. */
export function parseExpiry(option: string, text: string): string | null {
  if (text === "never") return null;
  const [, amount, unit] = /^(\d{1,5})([hdwy])$/.exec(text) ?? [];
  const length = Number(amount) * UNITS[unit as keyof typeof UNITS];
  if (length > 0 && length <= MAX_MS) return new Date(Date.now() + length).toISOString();
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}.`, {
    fix: "Give a time such as 12h, 90d, 6w or 1y, up to ten years, or never.",
  });
}

/** `for 90 d`, `expired`, or empty if it never expires. */
export function describeExpiry(expiresAt: string | null): string {
  if (expiresAt === null) return "";
  const left = Date.parse(expiresAt) - Date.now();
  if (left <= 0) return "expired";
  return left < 2 * UNITS.d ? `for ${Math.ceil(left / UNITS.h)} h` : `for ${Math.ceil(left / UNITS.d)} d`;
}
