import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { BEHAVIOURS, type BehaviourId } from "./storage-behaviours.ts";
import { DEFAULT_TENANT } from "../tenant-store.ts";
import { Stage, type StoreFixture, type Verify } from "./storage-stage.ts";
import { verifyAnnouncements } from "./verify-announcements.ts";
import { verifyArchive } from "./verify-archive.ts";
import { verifyAudit } from "./verify-audit-log.ts";
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
import { verifyTenants } from "./verify-tenants.ts";
import { verifyWhole } from "./verify-whole.ts";
import { verifyWorkers } from "./verify-workers.ts";

const VERIFICATIONS: Record<BehaviourId, Verify> = {
  ...verifyLog,
  ...verifyFollow,
  ...verifyInbox,
  ...verifyLeases,
  ...verifySessions,
  ...verifyResources,
  ...verifyRecords,
  ...verifyAnnouncements,
  ...verifyJobs,
  ...verifyJobFollow,
  ...verifySearch,
  ...verifySearchVectors,
  ...verifyAudit,
  ...verifySpending,
  ...verifyArchive,
  ...verifyTenants,
  ...verifyWorkers,
  ...verifyWhole,
};

/**
 * Not verified on a tenant's own tables, which use the same statements: behaviours that open their own databases,
 * shared stores, and slow behaviours that do not depend on the schema.
 */
const DEFAULT_TENANT_ONLY = [
  /^(archive|schema|store|token|tenant|worker|search)\./,
  /\.(long|heavy|crosswise|exactly-once|slow|follow-slow|process|killed|tampered|all-or-none|at-once|content|names|as-it-was)$/,
];

/**
 * The contract of `Store`: both engines give the same results and errors. A tenant of Postgres has its own schema, which
 * every statement must use. A tenant of SQLite is another file. Only the soak suite verifies a behaviour twice, as the
 * default tenant and as another one.
 */
export function storeContract(engine: string, openFixture: () => Promise<StoreFixture>, missing?: string): void {
  describe.skipIf(missing)(`the store on ${engine}${missing ? ` (skipped: ${missing})` : ""}`, () => {
    let fixture: StoreFixture | undefined;
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture?.[Symbol.asyncDispose]());

    const verifies = (tenant: string, id: BehaviourId): boolean => {
      const isForDefault = DEFAULT_TENANT_ONLY.some((pattern) => pattern.test(id));
      if (tenant !== DEFAULT_TENANT) return !isForDefault;
      return isForDefault || engine === "sqlite" || inject("soak");
    };
    for (const tenant of engine === "sqlite" && !inject("soak") ? [DEFAULT_TENANT] : [DEFAULT_TENANT, "acme-2"]) {
      describe(`as tenant ${tenant}`, () => {
        let stage: Stage | undefined;
        beforeAll(async () => {
          stage = await Stage.open(fixture!, tenant);
        });
        afterAll(() => stage?.[Symbol.asyncDispose]());

        for (const { id, title } of BEHAVIOURS) {
          if (!verifies(tenant, id)) continue;
          it(`${id}: ${title}`, async () => {
            expect.hasAssertions();
            await VERIFICATIONS[id](stage!);
          });
        }
      });
    }
  });
}
