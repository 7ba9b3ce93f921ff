import { TandemError } from "@tandem/protocol";

/** For reads of many files: what is no text, too large or a link is taken for nothing, stays as it is, and stops nobody. */
export function leftAlone(error: unknown): undefined {
  if (error instanceof TandemError && error.code !== "unavailable") return undefined;
  throw error;
}
