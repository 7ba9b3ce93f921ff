import { describe, expect, test } from "vitest";
import { checkMode, hostAccount } from "./permission-mode.ts";

const root = { uid: 0, isDisposable: false };
const person = { uid: 1000, isDisposable: false };

describe("bypassPermissions", () => {
  test("is refused for root, with a reason and a fix", () => {
    expect(() => checkMode("bypassPermissions", root, "mode")).toThrow(
      expect.objectContaining({
        code: "forbidden",
        message: expect.stringContaining("refused for root"),
        fix: expect.stringMatching(/another user.*rules.*IS_SANDBOX=1/s),
      }),
    );
  });

  test("is allowed for other users, and for root in a disposable container", () => {
    expect(checkMode("bypassPermissions", person, "mode")).toBe("bypassPermissions");
    expect(checkMode("bypassPermissions", { ...root, isDisposable: true }, "mode")).toBe("bypassPermissions");
    expect(hostAccount({ IS_SANDBOX: "1" })).toMatchObject({ isDisposable: true });
    expect(hostAccount({ IS_SANDBOX: "0" })).toMatchObject({ isDisposable: false });
  });
});

test("root may use every other mode; unknown modes are rejected", () => {
  for (const mode of ["default", "acceptEdits", "plan", "dontAsk"]) expect(checkMode(mode, root, "mode")).toBe(mode);
  expect(() => checkMode("yolo", person, "mode")).toThrow(expect.objectContaining({ code: "invalid_request" }));
  expect(() => checkMode("auto", person, "mode")).toThrow(/auto is not supported/);
});
