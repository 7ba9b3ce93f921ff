import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../connection.ts";
import { BEHAVIOURS, type BehaviourId } from "./connector-behaviours.ts";
import type { ConnectorFixture, Verify } from "./connector-stage.ts";
import { verifyJudge } from "./verify-judge.ts";
import { verifyLimits } from "./verify-limits.ts";
import { verifyStructure } from "./verify-structure.ts";
import { verifyValues } from "./verify-values.ts";

const VERIFICATIONS: Record<BehaviourId, Verify> = {
  ...verifyStructure,
  ...verifyValues,
  ...verifyLimits,
  ...verifyJudge,
};

/** The contract of `Connection`: the same queries and results for every database. */
export function connectionContract(name: string, openFixture: () => Promise<ConnectorFixture>, missing?: string): void {
  describe.skipIf(missing)(`a connection to ${name}${missing ? ` (skipped: ${missing})` : ""}`, () => {
    let fixture: ConnectorFixture | undefined;
    let connection: Connection | undefined;
    beforeAll(async () => {
      fixture = await openFixture();
      connection = await fixture.open();
    });
    afterAll(async () => {
      await connection?.[Symbol.asyncDispose]();
      await fixture?.[Symbol.asyncDispose]();
    });

    for (const { id, title } of BEHAVIOURS) {
      it(`${id}: ${title}`, async () => {
        expect.hasAssertions();
        await VERIFICATIONS[id]({ fixture: fixture!, connection: connection! });
      });
    }
  });
}
