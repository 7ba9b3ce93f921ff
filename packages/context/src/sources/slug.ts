import { createHash } from "node:crypto";

const LONGEST = 60;

/** A key part: lowercase letters and digits of any language, joined by `-`. Never empty, never long. */
export function slug(text: string): string {
  const plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "");
  if (plain === "") return `x-${shortHash(text)}`;
  return shortened(plain, LONGEST);
}

/** Truncates a long key and appends a hash of the whole. */
export function shortened(key: string, longest: number): string {
  const points = Array.from(key);
  return points.length <= longest ? key : `${points.slice(0, longest - 7).join("")}-${shortHash(key)}`;
}

export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 6);
