import { MemoryPathConflict, type MemoryStoreRecord, MemoryPreconditionFailed, systemClock } from "@tandem/protocol";
import { type Records } from "@tandem/storage";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { MemoryStoreCatalogue } from "./memory-store-catalogue.ts";
import type { ContextMemories } from "./memory-stores.ts";

const folder = await scratchFolder();
const store = await scratchStore(folder);

const given = { name: "Ada", description: "", metadata: {} };
const by = { by: "ada" };
/** Two processes on one database. */
const twoProcesses = (records: Records = store.records) =>
  [0, 1].map(() => new MemoryStoreCatalogue(records, { clock: systemClock })) as [
    MemoryStoreCatalogue,
    MemoryStoreCatalogue,
  ];

test("writers in two processes lose no memory, and one of two gets a path", async () => {
  const [one, other] = twoProcesses();
  const { id } = await one.create(given);
  const paths = Array.from({ length: 24 }, (_, at) => `/${at}.md`);
  await Promise.all(paths.map((path, at) => (at % 2 ? one : other).add(id, { path, content: path, ...by })));
  expect((await one.entries(id)).map(({ path }) => path)).toEqual(paths.toSorted());
  const rivals = await Promise.allSettled(
    [one, other].map((each) => each.add(id, { path: "/x", content: "x", ...by })),
  );
  expect(rivals.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(rivals.find(({ status }) => status === "rejected")).toMatchObject({ reason: expect.any(MemoryPathConflict) });
  const versions = await one.versions(id, { limit: 100, wants: () => true });
  expect(new Set(versions.map((version) => version.id)).size).toBe(25);
});

test("of two changes with the same precondition one is made", async () => {
  const [one, other] = twoProcesses();
  const { id } = await one.create(given);
  const { id: memory, sha256: expected } = await one.add(id, { path: "/a", content: "one", ...by });
  const rivals = await Promise.allSettled(
    [one, other].map((each, at) => each.change(id, memory, { content: `two ${at}`, expected, ...by })),
  );
  const lost = rivals.filter(({ status }) => status === "rejected");
  expect(lost).toMatchObject([{ reason: expect.any(MemoryPreconditionFailed) }]);
});

test("a deletion that was interrupted is finished with the next list, and unseen before", async () => {
  // Dies after the store is marked as deleted.
  const dying: Records = {
    ...bound(store.records),
    write: async (space, changes, with_) => {
      if (changes.some(({ type }) => type === "delete")) throw new Error("killed");
      await store.records.write(space, changes, with_);
    },
  };
  const [mortal] = twoProcesses(dying);
  const [next] = twoProcesses();
  const { id } = await next.create(given);
  await next.add(id, { path: "/a", content: "secret", ...by });
  await expect(mortal.delete(id)).rejects.toThrow("killed");
  await expect(next.entries(id)).rejects.toThrow("There is no memory store");
  expect((await next.list({ includeArchived: true })).map((each) => each.id)).not.toContain(id);
  for (const kind of ["memory-store", "memory-index", "memory-version"]) {
    const left = await store.records.list("memory-stores", kind, { prefix: id, limit: 10 });
    expect(left).toEqual([]);
  }
});

test("stores that an earlier version kept in a context's folder are taken over once, with their versions", async () => {
  const [source] = twoProcesses();
  const created = await source.create(given);
  await source.add(created.id, { path: "/a", content: "one", ...by });
  const former = new Map<string, MemoryStoreRecord>([["memstore_old", { ...created, id: "memstore_old" }]]);
  const context = {
    ownId: "memstore_own",
    former: async () => [...former.values()],
    forget: async (id: string) => void former.delete(id),
    entries: () => source.entries(created.id),
    versions: async () =>
      (await source.versions(created.id, { limit: 9, wants: () => true })).map((version) => ({
        ...version,
        store: "memstore_old",
      })),
  } as Partial<ContextMemories> as ContextMemories;
  const catalogue = new MemoryStoreCatalogue(store.records, { clock: systemClock, contextMemories: () => context });
  await catalogue.adoptFormer();
  former.set("memstore_old", { ...created, id: "memstore_old" });
  await catalogue.adoptFormer();
  expect(former.size).toBe(0);
  const [entry] = await catalogue.entries("memstore_old");
  expect(await catalogue.entry("memstore_old", entry!.id)).toMatchObject({ path: "/a", content: "one" });
  expect(await catalogue.versions("memstore_old", { limit: 9, wants: () => true })).toHaveLength(1);
});

const bound = (records: Records): Records => ({
  get: (...args) => records.get(...args),
  getMany: (...args) => records.getMany(...args),
  list: (...args) => records.list(...args),
  write: (...args) => records.write(...args),
});
