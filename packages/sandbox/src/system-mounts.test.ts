import { expect, test, vi } from "vitest";
import { systemMounts } from "./system-mounts.ts";

vi.mock("node:os", async (original) => ({
  ...(await original<object>()),
  userInfo: () => {
    throw new Error("uv_os_get_passwd returned ENOENT");
  },
}));

test("a server whose user has no account, as in many containers, can make a sandbox", () => {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const passwd = systemMounts("/home/agent", undefined, {}).find(
    (mount) => "at" in mount && mount.at === "/etc/passwd",
  );
  expect(passwd).toMatchObject({ text: expect.stringContaining(`agent:x:${uid}:${gid}:agent:/home/agent:`) });
});
