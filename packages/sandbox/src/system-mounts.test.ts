import { expect, test } from "vitest";
import { ownName } from "./system-mounts.ts";

test("a server whose user has no account, as in many containers, has a name in its sandbox", () => {
  const name = ownName(() => {
    throw new Error("uv_os_get_passwd returned ENOENT");
  });
  expect(name).toBe("agent");
});
