import { describe, expect, it } from "vitest";
import { failing, gates, outcomeOf, overloaded, setUp } from "./testing/governed.ts";

describe("concurrency", () => {
  it("limits concurrency, first come, first served, and reports who waits", async () => {
    const { settle, begin } = setUp({ concurrency: 2 });
    const { started, operation, finish } = gates();
    const calls = ["a", "b", "c", "d"].map(() => begin());
    const results = calls.map(({ call }, index) => call.attempt(operation("abcd"[index]!)));
    await settle();
    expect(started).toEqual(["a", "b"]);
    expect(calls.map(({ waits }) => waits)).toEqual([
      [],
      [],
      [{ reason: "concurrency", attempt: 1 }],
      [{ reason: "concurrency", attempt: 1 }],
    ]);
    finish("b");
    await settle();
    expect(started).toEqual(["a", "b", "c"]);
    for (const name of ["a", "c"]) finish(name);
    await settle();
    finish("d");
    expect(await Promise.all(results)).toEqual(["a", "b", "c", "d"]);
  });

  it("halves the limit once per burst of rejections", async () => {
    const { governor, advance, settle, begin } = setUp({ concurrency: 8, attempts: 3 });
    const { operation, fail, finish, started } = gates();
    const names = ["a", "b", "c", "d"];
    const results = names.map((name) => begin().call.attempt(operation(name)));
    await settle();
    for (const name of names) fail(name, overloaded());
    await settle();
    expect(governor.concurrency).toBe(4);
    await advance(1_000);
    expect(started).toHaveLength(8);
    fail("a", overloaded());
    await settle();
    expect(governor.concurrency).toBe(2);
    for (const name of names.slice(1)) finish(name);
    await advance(2_000);
    finish("a");
    expect(await Promise.all(results)).toEqual(names);
  });

  it("never goes below one, and grows back with successes", async () => {
    const { governor, clock, advance, begin } = setUp({ concurrency: 3, attempts: 5 });
    const result = begin().call.attempt(failing(clock, overloaded(), overloaded(), overloaded()).operation);
    await advance(30_000);
    await result;
    // One success at a limit of one has already added a slot.
    expect(governor.concurrency).toBe(2);
    await begin().call.attempt(failing(clock).operation);
    expect(governor.concurrency).toBe(2);
    await begin().call.attempt(failing(clock).operation);
    expect(governor.concurrency).toBe(3);
    for (let n = 0; n < 9; n += 1) await begin().call.attempt(failing(clock).operation);
    expect(governor.concurrency).toBe(3);
  });

  describe("aside", () => {
    it("releases the slot, and gets one back before the attempt continues", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { started, operation, finish } = gates();
      const tool = Promise.withResolvers<void>();
      const { call, waits } = begin();
      const outer = call.attempt(async () => {
        await call.aside(() => tool.promise);
        started.push("outer goes on");
      });
      const inner = begin().call.attempt(operation("inner"));
      await settle();
      expect(started).toEqual(["inner"]);
      tool.resolve();
      await settle();
      expect(started).toEqual(["inner"]);
      expect(waits).toEqual([{ reason: "concurrency", attempt: 1 }]);
      finish("inner");
      await Promise.all([outer, inner]);
      expect(started).toEqual(["inner", "outer goes on"]);
    });

    it("ends with the last of several callbacks, in any order", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { started, operation, finish } = gates();
      const tools = [0, 1, 2].map(() => Promise.withResolvers<void>());
      const { call } = begin();
      const outer = call.attempt(async () => {
        const [first, second, third] = tools.map((tool) => () => call.aside(() => tool.promise));
        const early = [first!(), second!()];
        // While the first two wait for a slot, a third one starts and ends.
        tools[0]!.resolve();
        tools[1]!.resolve();
        await settle();
        await Promise.all([...early, third!()]);
        started.push("outer goes on");
      });
      const inner = begin().call.attempt(operation("inner"));
      await settle();
      await settle();
      tools[2]!.resolve();
      await settle();
      finish("inner");
      await Promise.all([outer, inner]);
      expect(started).toEqual(["inner", "outer goes on"]);
      expect(await begin().call.attempt(async () => "free")).toBe("free");
    });

    it("does not release a slot twice if the attempt ends first", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { started, operation, finish } = gates();
      const tool = Promise.withResolvers<void>();
      const { call } = begin();
      let late: Promise<void> | undefined;
      await call.attempt(async () => void (late = call.aside(() => tool.promise)));
      const others = ["a", "b"].map((name) => begin().call.attempt(operation(name)));
      tool.resolve();
      await late;
      await settle();
      expect(started).toEqual(["a"]);
      finish("a");
      await settle();
      finish("b");
      expect(await Promise.all(others)).toEqual(["a", "b"]);
    });

    it("ends with an abort", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { operation, finish } = gates();
      const controller = new AbortController();
      const { call } = begin({ signal: controller.signal });
      const outer = outcomeOf(
        call.attempt(async () => {
          await call.aside(async () => undefined);
          controller.signal.throwIfAborted();
        }),
      );
      const inner = begin().call.attempt(operation("inner"));
      await settle();
      controller.abort();
      expect(await outer).toMatchObject({ error: { code: "aborted" } });
      finish("inner");
      expect(await inner).toBe("inner");
      expect(await begin().call.attempt(async () => "free")).toBe("free");
    });

    it("has no effect outside of an attempt", async () => {
      expect(
        await setUp()
          .begin()
          .call.aside(async () => "done"),
      ).toBe("done");
    });
  });

  it("releases the slot during a backoff", async () => {
    const { clock, advance, begin } = setUp({ concurrency: 1 });
    const waiting = begin().call.attempt(failing(clock, overloaded(30_000)).operation);
    const other = failing(clock);
    const second = begin().call.attempt(other.operation);
    await advance(1_000);
    expect(await second).toBe("done");
    expect(other.times).toEqual([0]);
    await advance(30_000);
    expect(await waiting).toBe("done");
  });
});
