import { expect, test } from "vitest";
import { judgeUser } from "./user-check.ts";

const machine = { uid: 1000, isDisposable: false, isContainer: false };

test("reports nothing for a regular user outside a container", () => {
  expect(judgeUser(machine)).toBeUndefined();
  expect(judgeUser({ ...machine, uid: undefined })).toBeUndefined();
});

test("a non-root user in a container may use every mode", () => {
  expect(judgeUser({ ...machine, isContainer: true })).toMatchObject({
    result: "ok",
    detail: expect.stringContaining("every permission mode"),
  });
});

test("root gets the refused mode and the fix", () => {
  expect(judgeUser({ ...machine, uid: 0 })).toMatchObject({
    result: "warning",
    detail: expect.stringMatching(/run as root.*refuse the mode bypass permissions/s),
    fix: expect.stringMatching(/another user.*tandem rules add.*IS_SANDBOX=1/s),
  });
});

test("root in a container is told to use another user or to mark the container as disposable", () => {
  expect(judgeUser({ ...machine, uid: 0, isContainer: true })).toMatchObject({
    result: "warning",
    detail: expect.stringContaining("in a container"),
    fix: expect.stringMatching(/as another user.*IS_SANDBOX=1/s),
  });
});

test("root in a disposable sandbox may use every mode", () => {
  expect(judgeUser({ uid: 0, isDisposable: true, isContainer: true })).toMatchObject({
    result: "ok",
    detail: expect.stringContaining("every permission mode"),
  });
});
