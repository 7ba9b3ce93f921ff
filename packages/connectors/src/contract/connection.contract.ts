import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../connection.ts";
import type { Behaviours, ConnectorFixture } from "./connector-stage.ts";
import { verifyJudge } from "./verify-judge.ts";
import { verifyLimits } from "./verify-limits.ts";
import { verifyStructure } from "./verify-structure.ts";
import { verifyValues } from "./verify-values.ts";

const CONTRACT: Behaviours = { ...verifyValues, ...verifyLimits, ...verifyJudge, ...verifyStructure };

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

    it.each(Object.entries(CONTRACT))("%s", async (_title, verify) => {
      expect.hasAssertions();
      await verify({ fixture: fixture!, connection: connection! });
    });
  });
}
