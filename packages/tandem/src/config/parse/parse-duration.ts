import { duration, TandemError } from "@tandem/protocol";

/** Parses a duration option of the command line. */
export function parseDuration(option: string, text: string): number {
  const result = duration.safeParse(text);
  if (result.success) return result.data;
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}: ${result.error.issues[0]?.message}.`);
}
