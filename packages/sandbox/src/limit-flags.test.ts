import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLimitGroup, type GroupParent } from "./limit-group.ts";
import { limitFlags, limitsInForce } from "./limit-flags.ts";
import type { WallOn } from "./sandbox-plan.ts";

const wall: WallOn = { on: true, bwrap: "/usr/bin/bwrap", processor: "x64", disablesUserNamespaces: true };
const withTool: WallOn = { ...wall, prlimit: "/usr/bin/prlimit" };
const both: GroupParent = { folder: "/sys/fs/cgroup/x", controllers: ["memory", "pids"] };
const scopes = (...args: Parameters<typeof limitsInForce>): string =>
  limitsInForce(...args)
    .map(({ name, scope }) => `${name}: ${scope}`)
    .join(", ");

test("the status says which limits bind, and for what", () => {
  const none: GroupParent = { folder: "", controllers: [] };
  expect(scopes(withTool, false, none)).toBe(
    "memory: process, processes: sandbox, files: process, file size: process, /tmp: sandbox",
  );
  expect(scopes(withTool, true, none)).toContain("memory: process, processes: none");
  expect(scopes(withTool, true, both)).toContain("memory: sandbox, processes: sandbox");
  expect(scopes(wall, false, none)).toBe("memory: none, processes: none, files: none, file size: none, /tmp: sandbox");
});

test("prlimit sets the limits of the plan, and forbids core dumps", () => {
  const limits = { tmpMb: 1, processes: 100, files: 50, fileMb: 2, memoryMb: 1 };
  expect(limitFlags(withTool, limits).join(" ")).toBe(
    "/usr/bin/prlimit --nproc=100 --nofile=50 --fsize=2097152 --data=1048576 --core=0 --",
  );
  expect(limitFlags(wall, limits)).toEqual([]);
});

test("a control group gets the limits that the machine has controllers for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-groups-"));
  const parent: GroupParent = { folder, controllers: ["pids"] };
  expect(openLimitGroup({ tmpMb: 1 }, parent)).toBeUndefined();
  await openLimitGroup({ tmpMb: 1, processes: 9, memoryMb: 64 }, parent)!.add(42);
  const [group = ""] = readdirSync(folder);
  expect(readFileSync(join(folder, group, "pids.max"), "utf8")).toBe("9");
  expect(readFileSync(join(folder, group, "cgroup.procs"), "utf8")).toBe("42");
  expect(existsSync(join(folder, group, "memory.max"))).toBe(false);
  // Groups cannot be made here: the other limits remain.
  expect(openLimitGroup({ tmpMb: 1, processes: 9 }, { ...parent, folder: join(folder, "missing") })).toBeUndefined();
  rmSync(folder, { recursive: true });
});
