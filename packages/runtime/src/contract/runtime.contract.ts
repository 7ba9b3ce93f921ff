import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BEHAVIOURS } from "./runtime-behaviours.ts";
import { type BackendFixture, Stage } from "./runtime-stage.ts";

/** The contract of `LlmRuntime`: the same inputs, results and errors on every backend. */
export function runtimeContract(fixture: BackendFixture): void {
  describe(`the runtime on ${fixture.name}`, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await Stage.open(fixture);
    });
    afterEach(() => stage.clear());
    afterAll(() => stage[Symbol.asyncDispose]());

    for (const [title, verify] of Object.values(BEHAVIOURS).flatMap((group) => Object.entries(group))) {
      const exception = fixture.exceptions?.[title];
      // Exceptions are verified too: one that passes by now must be removed.
      const test = exception ? it.fails : it;
      test(`${title}${exception ? ` (not here: ${exception})` : ""}`, async () => {
        expect.hasAssertions();
        await verify(stage);
      });
    }
  });
}
