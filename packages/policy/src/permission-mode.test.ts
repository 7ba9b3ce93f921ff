import { describe, expect, test } from "vitest";
import { checkMode, hostAccount } from "./permission-mode.ts";

const root = { uid: 0, isDisposable: false };
const person = { uid: 1000, isDisposable: false };

describe("bypassPermissions", () => {
  test("is refused to root, with the reason and the way out", () => {
    expect(() => checkMode("bypassPermissions", root, "mode")).toThrow(
      expect.objectContaining({
        code: "forbidden",
        message: expect.stringContaining("refused to root"),
        fix: expect.stringMatching(/another user.*rules.*IS_SANDBOX=1/s),
      }),
    );
  });

  test("is for other users, and for root in a container that may be thrown away", () => {
    expect(checkMode("bypassPermissions", person, "mode")).toBe("bypassPermissions");
    expect(checkMode("bypassPermissions", { ...root, isDisposable: true }, "mode")).toBe("bypassPermissions");
    expect(hostAccount({ IS_SANDBOX: "1" })).toMatchObject({ isDisposable: true });
    expect(hostAccount({ IS_SANDBOX: "0" })).toMatchObject({ isDisposable: false });
  });
});

test("root may have every other mode, and nobody one that there is not", () => {
  for (const mode of ["default", "acceptEdits", "plan"]) expect(checkMode(mode, root, "mode")).toBe(mode);
  expect(() => checkMode("yolo", person, "mode")).toThrow(expect.objectContaining({ code: "invalid_request" }));
});
