import { RequestError } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { findHeldJob } from "../operations/jobs.ts";
import { deleteSomeRecords } from "../operations/records.ts";
import type { Store } from "../store.ts";
import { holderName } from "../local-process.ts";
import { releaseDead } from "./leases.ts";
import { checkNames } from "./names.ts";
import type { OwnedSearchIndex } from "./search-index.ts";

const JOBS_AT_ONCE = 100;

/** Many small writes, so that other writers get their turn. Jobs first: a running job would create more data. */
export async function deleteSpace(
  database: Database,
  { jobs, blobs, search }: Pick<Store, "jobs" | "blobs"> & { search: OwnedSearchIndex },
  space: string,
): Promise<void> {
  checkNames({ space });
  await releaseDead(database);
  const held = await database.read(findHeldJob, space);
  if (held) {
    throw new RequestError("conflict", `${holderName(held.holder)} is working on the job ${held.id}.`, {
      fix: "Cancel it, and try again once it has ended.",
    });
  }
  for (;;) {
    const { data } = await jobs.list({ space, limit: JOBS_AT_ONCE });
    for (const { id } of data) await jobs.delete(id);
    if (data.length < JOBS_AT_ONCE) break;
  }
  while (await database.write(deleteSomeRecords, space));
  await blobs.prune(space, new Set());
  await search.deleteSpace(space);
}
