import { systemClock } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { StartGate } from "./start-gate.ts";

/** Names in order of entry. */
function visitors(gate: StartGate, names: string) {
  const inside: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = async (name: string): Promise<void> => {
    const stay = await gate.enter();
    inside.push(name);
    leaves.set(name, () => stay[Symbol.dispose]());
  };
  for (const name of names) void enter(name);
  return { inside, leave: (name: string) => leaves.get(name)!() };
}

test("limits concurrent starts, admits the others in order, and ignores a second release", async () => {
  const { inside, leave } = visitors(new StartGate(2, systemClock), "abcd");
  await expect.poll(() => inside.join("")).toBe("ab");
  leave("b");
  leave("b");
  await expect.poll(() => inside.join("")).toBe("abc");
  leave("a");
  await expect.poll(() => inside.join("")).toBe("abcd");
});

test("a start that takes too long does not block others", async () => {
  const clock = new MovableClock();
  const { inside } = visitors(new StartGate(1, clock, 60_000), "ab");
  await expect.poll(() => inside.join("")).toBe("a");
  clock.advance(60_000);
  await expect.poll(() => inside.join("")).toBe("ab");
});
