import { TandemError } from "@tandem/protocol";
import type { Run } from "./job-run.ts";

/** A failed index update does not fail the run; the next search catches up. */
export async function syncSearch(
  run: Run,
  search: { sync(): Promise<unknown> } | undefined,
  item: string,
): Promise<void> {
  try {
    await search?.sync();
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof TandemError)) throw error;
    run.skip("search", item, error);
  }
}
