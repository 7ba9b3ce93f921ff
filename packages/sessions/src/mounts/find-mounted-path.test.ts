import type { SessionId, SessionResource } from "@tandem/protocol";
import { expect, test } from "vitest";
import { findMountedPath } from "./find-mounted-path.ts";

const id = "sesn_1" as SessionId;
const repository = {
  type: "github_repository",
  id: "sesrsc_1",
  url: "https://example.com/a/app",
  mount_path: "/workspace/app",
  tandem: { path: "app" },
} as SessionResource;
const row = { id, folder: "/home/ada/project", resources: [repository] };
const find = (input: Record<string, unknown>, mounted = row, name = "Bash") =>
  findMountedPath({ name, input, thread: null }, mounted);

test.each([
  [{ file_path: "/mnt/session/outputs/report.md" }, "/home/ada/project/.mnt/sesn_1/session/outputs"],
  [{ command: "cp a.csv /mnt/session/outputs" }, "/home/ada/project/.mnt/sesn_1/session/outputs"],
  [{ command: "cat '/mnt/session/uploads/a.csv'" }, "/home/ada/project/.mnt/sesn_1/session/uploads"],
  [{ command: "cd /workspace/app && git log" }, "/home/ada/project/app"],
])("%j: the model is told the real path", (input, path) => {
  expect(find(input)).toContain(` is at ${path} on this machine.`);
});

test.each([
  { command: "ls /workspace" },
  { command: "cat /workspace/application/a" },
  { file_path: "/home/ada/project/.mnt/sesn_1/session/outputs/report.md" },
  { command: "ls /data/mnt/session/outputs" },
  { command: "ls /mnt/memory" },
])("%j is another place", (input) => {
  expect(find(input)).toBeUndefined();
});

test("a folder that is truly there is used", () => {
  for (const folder of ["/workspace", "/workspace/app", "/workspace/app/packages/a"]) {
    expect(find({ command: "ls /workspace/app" }, { ...row, folder })).toBeUndefined();
  }
});

test("a session without mounts uses the machine's paths", () => {
  expect(find({ command: "ls /mnt/session/outputs" }, { ...row, resources: [] })).toBeUndefined();
});
