import type { Context } from "../context.ts";

export interface ScanOptions {
  all?: boolean;
  dryRun?: boolean;
  descriptions: boolean;
}

export async function scan(_context: Context, _name: string | undefined, _options: ScanOptions): Promise<number> {
  return 1;
}
