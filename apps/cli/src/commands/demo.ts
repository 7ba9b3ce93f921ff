import { TandemError } from "@tandem/protocol";
import type { Context } from "../context.ts";

export async function demo(_context: Context): Promise<void> {
  throw new TandemError("not_available", "The demo is not part of this build.", { fix: "Run `tandem --help`." });
}
