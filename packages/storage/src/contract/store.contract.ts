import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { DEFAULT_TENANT } from "../tenant-store.ts";
import { type Behaviours, isForDefaultTenant, Stage, type StoreFixture } from "./storage-stage.ts";
import { verifyAnnouncements } from "./verify-announcements.ts";
import { verifyArchive } from "./verify-archive.ts";
import { verifyAudit } from "./verify-audit-log.ts";
import { verifyFollow } from "./verify-follow.ts";
import { verifyInputQueue } from "./verify-input-queue.ts";
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

const EVERY_TENANT: Record<string, Behaviours> = {
  log: verifyLog,
  follow: verifyFollow,
  "input queue": verifyInputQueue,
  lease: verifyLeases,
  session: verifySessions,
  resource: verifyResources,
  record: verifyRecords,
  announcement: verifyAnnouncements,
  job: verifyJobs,
  "job log": verifyJobFollow,
  audit: verifyAudit,
  spending: verifySpending,
};

/** Behaviours that open their own databases, shared stores, and slow behaviours that do not depend on the schema. */
const DEFAULT_TENANT_ONLY: Record<string, Behaviours> = {
  search: verifySearch,
  vector: verifySearchVectors,
  archive: verifyArchive,
  tenant: verifyTenants,
  worker: verifyWorkers,
  store: verifyWhole,
};

const CONTRACT = Object.entries({ ...EVERY_TENANT, ...DEFAULT_TENANT_ONLY }).flatMap(([subject, behaviours]) =>
  Object.entries(behaviours).map(([title, verify]) => ({
    subject,
    title,
    verify,
    isForDefault: subject in DEFAULT_TENANT_ONLY || isForDefaultTenant(verify),
  })),
);

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

    const verifies = (tenant: string, isForDefault: boolean): boolean => {
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

        for (const { subject, title, verify, isForDefault } of CONTRACT) {
          if (!verifies(tenant, isForDefault)) continue;
          it(`${subject}: ${title}`, async () => {
            expect.hasAssertions();
            await verify(stage!);
          });
        }
      });
    }
  });
}
