import { expect, test } from "vitest";
import { judgeUser } from "./user-check.ts";

const machine = { uid: 1000, isDisposable: false, isContainer: false };

test("an ordinary user on an ordinary machine is nothing to tell", () => {
  expect(judgeUser(machine)).toBeUndefined();
  expect(judgeUser({ ...machine, uid: undefined })).toBeUndefined();
});

test("another user than root in a container may use every mode", () => {
  expect(judgeUser({ ...machine, isContainer: true })).toMatchObject({
    result: "ok",
    detail: expect.stringContaining("every mode"),
  });
});

test("root is told what is refused, and the way out", () => {
  expect(judgeUser({ ...machine, uid: 0 })).toMatchObject({
    result: "warning",
    detail: expect.stringMatching(/root's rights.*but bypassPermissions/s),
    fix: expect.stringMatching(/another user.*tandem rules add.*IS_SANDBOX=1/s),
  });
});

test("root in a container is told to run it as another user, or to say that it may be thrown away", () => {
  expect(judgeUser({ ...machine, uid: 0, isContainer: true })).toMatchObject({
    result: "warning",
    detail: expect.stringContaining("in a container"),
    fix: expect.stringMatching(/as another user.*IS_SANDBOX=1/s),
  });
});

test("root in a sandbox that may be thrown away may use every mode", () => {
  expect(judgeUser({ uid: 0, isDisposable: true, isContainer: true })).toMatchObject({
    result: "ok",
    detail: expect.stringContaining("bypassPermissions too"),
  });
});
