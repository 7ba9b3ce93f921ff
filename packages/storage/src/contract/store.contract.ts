import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BEHAVIOURS, type BehaviourId } from "./behaviours.ts";
import { Stage, type StoreFixture, type Verify } from "./stage.ts";
import { verifyArchive } from "./verify-archive.ts";
import { verifyAudit } from "./verify-audit.ts";
import { verifyFollow } from "./verify-follow.ts";
import { verifyInbox } from "./verify-inbox.ts";
import { verifyJobFollow } from "./verify-job-follow.ts";
import { verifyJobs } from "./verify-jobs.ts";
import { verifyLeases } from "./verify-leases.ts";
import { verifyLog } from "./verify-log.ts";
import { verifyRecords } from "./verify-records.ts";
import { verifyResources } from "./verify-resources.ts";
import { verifySearch } from "./verify-search.ts";
import { verifySearchVectors } from "./verify-search-vectors.ts";
import { verifySessions } from "./verify-sessions.ts";
import { verifySpending } from "./verify-spending.ts";
import { verifyWhole } from "./verify-whole.ts";

const VERIFICATIONS: Record<BehaviourId, Verify> = {
  ...verifyLog,
  ...verifyFollow,
  ...verifyInbox,
  ...verifyLeases,
  ...verifySessions,
  ...verifyResources,
  ...verifyRecords,
  ...verifyJobs,
  ...verifyJobFollow,
  ...verifySearch,
  ...verifySearchVectors,
  ...verifyAudit,
  ...verifySpending,
  ...verifyArchive,
  ...verifyWhole,
};

/** The contract of `Store`: the same calls, the same answers, the same errors, whatever database stands behind it. */
export function storeContract(engine: string, openFixture: () => Promise<StoreFixture>, missing?: string): void {
  describe.skipIf(missing)(`the store on ${engine}${missing ? ` (skipped: ${missing})` : ""}`, () => {
    let stage: Stage | undefined;
    beforeAll(async () => {
      stage = await Stage.open(await openFixture());
    });
    afterAll(() => stage?.[Symbol.asyncDispose]());

    for (const { id, title } of BEHAVIOURS) {
      it(`${id}: ${title}`, async () => {
        expect.hasAssertions();
        await VERIFICATIONS[id](stage!);
      });
    }
  });
}
