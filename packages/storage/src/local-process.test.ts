import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { holderName, isHolderDead, withProcess } from "./local-process.ts";

const own = withProcess("tandem up on here (pid 1)");
const other = (change: Record<string, unknown>): string => {
  const [name, text] = own.split("\t");
  return `${name}\t${JSON.stringify({ ...(JSON.parse(text!) as object), ...change })}`;
};

test("a lease names its holder for people, and the process behind it for other processes", () => {
  expect(holderName(own)).toBe("tandem up on here (pid 1)");
  expect(isHolderDead(own, false)).toBe(false);
});

test("a holder is dead if its process has ended, its pid was reused, or the machine was restarted", async () => {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  const { pid } = child;
  await once(child, "exit");
  expect(isHolderDead(other({ pid }), false)).toBe(true);
  expect(isHolderDead(other({ start: "1" }), false)).toBe(true);
  expect(isHolderDead(other({ boot: "an earlier one" }), false)).toBe(true);
});

test("a holder in another container, or of an older version, may live", () => {
  expect(isHolderDead(other({ namespace: "pid:[1]", start: "1" }), false)).toBe(false);
  expect(isHolderDead("tandem up on here (pid 1)", false)).toBe(false);
});

test("in a database of several machines, only a process of this machine is known to be dead", () => {
  expect(isHolderDead(own, true)).toBe(false);
  expect(isHolderDead(other({ start: "1" }), true)).toBe(process.platform === "linux");
  expect(isHolderDead(other({ boot: "another machine", start: "1" }), true)).toBe(false);
});
