import { chmod, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, systemClock } from "@tandem/protocol";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { MemoryStoreCatalogue } from "../memory/memory-store-catalogue.ts";
import { syncMemories } from "./mount-memories.ts";

const folder = await scratchFolder();
const store = await scratchStore(folder);
const memories = new MemoryStoreCatalogue(store.records, { clock: systemClock });

/** A store that is mounted and was synchronised once. */
async function mounted(contents: Record<string, string>) {
  const { id } = await memories.create({ name: "Notes", description: "", metadata: {} });
  for (const [path, content] of Object.entries(contents)) await memories.add(id, { path, content, by: "ada" });
  const session = newId("session");
  const path = `.mnt/${session}/memory/notes`;
  const sync = () =>
    syncMemories(
      {
        id: session,
        folder,
        resource: {
          type: "memory_store",
          memory_store_id: id,
          access: "read_write",
          mount_path: "/mnt/memory/notes",
          name: "Notes",
          description: "",
          instructions: null,
          tandem: { path },
        },
      },
      { memories, records: store.records },
    );
  await sync();
  const paths = async () => (await memories.entries(id)).map((entry) => entry.path);
  return { id, sync, paths, place: join(folder, path) };
}

test("a folder that was cleaned up does not empty the store", async () => {
  const { sync, paths, place } = await mounted({ "/a.md": "one", "/b.md": "two" });
  await rm(place, { recursive: true });
  expect(await sync()).toEqual([]);
  expect(await paths()).toEqual(["/a.md", "/b.md"]);
  await rm(join(place, "a.md"));
  await sync();
  expect(await paths()).toEqual(["/b.md"]);
});

test("a file that cannot be a memory does not delete the one in the store", async () => {
  const { sync, paths, place } = await mounted({
    "/large.md": "1",
    "/bytes.md": "2",
    "/link.md": "3",
    "/shut.md": "4",
  });
  await writeFile(join(place, "large.md"), "x".repeat(200_000));
  await writeFile(join(place, "bytes.md"), Buffer.from([0, 255]));
  await rm(join(place, "link.md"));
  await symlink("/etc/hostname", join(place, "link.md"));
  await chmod(join(place, "shut.md"), 0);
  const [notice] = await sync();
  expect(notice).toMatchObject({ type: "tandem.notice", text: expect.stringContaining("large.md is not saved") });
  expect(await paths()).toEqual(["/bytes.md", "/large.md", "/link.md", "/shut.md"]);
});

test("the notice of a discarded change says why the store refused it", async () => {
  const { id, sync, place } = await mounted({ "/a.md": "one" });
  await memories.archive(id);
  await writeFile(join(place, "a.md"), "two");
  expect(await sync()).toMatchObject([
    { text: expect.stringMatching(/was discarded, because the store refused it \(.*archived.*\)\. It was:\ntwo$/) },
  ]);
});
