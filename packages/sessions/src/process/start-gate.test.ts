import { expect, test, vi } from "vitest";
import { StartGate } from "./start-gate.ts";

/** Who is in, in the order of entering. */
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

test("so many at once, the others in their order as somebody leaves; who leaves twice leaves once", async () => {
  const { inside, leave } = visitors(new StartGate(2), "abcd");
  await vi.waitFor(() => expect(inside.join("")).toBe("ab"));
  leave("b");
  leave("b");
  await vi.waitFor(() => expect(inside.join("")).toBe("abc"));
  leave("a");
  await vi.waitFor(() => expect(inside.join("")).toBe("abcd"));
});

test("who takes too long keeps nobody back", async () => {
  const { inside } = visitors(new StartGate(1, 10), "ab");
  await vi.waitFor(() => expect(inside.join("")).toBe("ab"));
});
