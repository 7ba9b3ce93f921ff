import { expect, test } from "vitest";
import { currentStep } from "./tour-steps.ts";

const nothing = { approved: undefined, hasSeenDiff: false, hasRewound: false, hasAskedContext: false };

test("the steps follow each other as their events happen", () => {
  expect(currentStep(nothing)).toBe("approve");
  expect(currentStep({ ...nothing, approved: "sesn_1" })).toBe("diff");
  expect(currentStep({ ...nothing, approved: "sesn_1", hasSeenDiff: true })).toBe("rewind");
  expect(currentStep({ ...nothing, approved: "sesn_1", hasRewound: true })).toBe("ask");
  expect(
    currentStep({ approved: "sesn_1", hasSeenDiff: true, hasRewound: true, hasAskedContext: true }),
  ).toBeUndefined();
});
