import { TandemError } from "@tandem/protocol";

/** For bulk reads: binary, too large or linked files are skipped instead of failing the read. */
export function leftAlone(error: unknown): undefined {
  if (error instanceof TandemError && error.code !== "unavailable") return undefined;
  throw error;
}
