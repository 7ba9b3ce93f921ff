import { describe, expect, it } from "vitest";
import { Pool, type Pooled } from "./pool.ts";

class Resource implements Pooled {
  isAlive = true;
  hasEnded = false;
  end(): void {
    this.isAlive = false;
    this.hasEnded = true;
  }
}

function poolOf(size: number): { pool: Pool<Resource>; opened: Resource[] } {
  const opened: Resource[] = [];
  const open = async (): Promise<Resource> => {
    const resource = new Resource();
    opened.push(resource);
    return resource;
  };
  return { pool: new Pool(open, { size }), opened };
}

const forever = (): Promise<never> => new Promise(() => {});
const LIMITS = { timeoutMs: 5_000 };

describe("Pool", () => {
  it("reuses connections and respects its size", async () => {
    const { pool, opened } = poolOf(2);
    let busy = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, (busy += 1));
      await new Promise((resolve) => setImmediate(resolve));
      busy -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => pool.use(LIMITS, work)));
    expect([most, opened.length]).toEqual([2, 2]);
  });

  it("ends a query at its deadline, and waiting queries proceed", async () => {
    const { pool, opened } = poolOf(1);
    const late = pool.use({ timeoutMs: 30 }, forever);
    const next = pool.use(LIMITS, async () => "next");
    await expect(late).rejects.toMatchObject({ code: "query_timeout" });
    expect(opened[0]!.hasEnded).toBe(true);
    expect(await next).toBe("next");
  });

  it("times out while waiting and gives its turn to others", async () => {
    const { pool } = poolOf(1);
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = pool.use(LIMITS, () => promise);
    const second = pool.use({ timeoutMs: 30 }, async () => "second");
    const third = pool.use(LIMITS, async () => "third");
    await expect(second).rejects.toMatchObject({ code: "query_timeout" });
    resolve("first");
    expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  });

  it("retries once if an idle connection was lost", async () => {
    const { pool, opened } = poolOf(1);
    await pool.use(LIMITS, async () => {});
    const ask = async (resource: Resource): Promise<number> => {
      if (resource !== opened[0]) return opened.length;
      resource.isAlive = false;
      throw new Error("gone");
    };
    expect(await pool.use(LIMITS, ask)).toBe(2);
    const fails = pool.use(LIMITS, async () => {
      throw new Error("wrong");
    });
    await expect(fails).rejects.toThrow("wrong");
  });

  it("ends everything when it is closed", async () => {
    const { pool, opened } = poolOf(2);
    await pool.use(LIMITS, async () => {});
    const busy = pool.use(LIMITS, forever);
    const waiting = [pool.use(LIMITS, forever), pool.use(LIMITS, forever)];
    for (const asked of [busy, ...waiting]) asked.catch(() => {});
    await pool[Symbol.asyncDispose]();
    await expect(pool.use(LIMITS, async () => {})).rejects.toMatchObject({ code: "connection_failed" });
    expect(opened.every(({ hasEnded }) => hasEnded)).toBe(true);
  });
});
