import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BEHAVIOURS, type BehaviourId } from "./runtime-behaviours.ts";
import { verifyErrors } from "./verify-errors.ts";
import { verifyLoops } from "./verify-loops.ts";
import { verifyObjects } from "./verify-objects.ts";
import { verifyReports } from "./verify-reports.ts";
import { verifyText } from "./verify-text.ts";
import { type BackendFixture, Stage, type Verify } from "./runtime-stage.ts";

const VERIFICATIONS: Record<BehaviourId, Verify> = {
  ...verifyText,
  ...verifyErrors,
  ...verifyObjects,
  ...verifyLoops,
  ...verifyReports,
};

/** The contract of `LlmRuntime`: the same inputs, results and errors on every backend. */
export function runtimeContract(fixture: BackendFixture): void {
  describe(`the runtime on ${fixture.name}`, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await Stage.open(fixture);
    });
    afterEach(() => stage.clear());
    afterAll(() => stage[Symbol.asyncDispose]());

    for (const { id, title } of BEHAVIOURS) {
      const exception = fixture.exceptions?.[id];
      // Exceptions are verified too: one that passes by now must be removed.
      const test = exception ? it.fails : it;
      test(`${id}: ${title}${exception ? ` (not here: ${exception})` : ""}`, async () => {
        expect.hasAssertions();
        await VERIFICATIONS[id](stage);
      });
    }
  });
}
