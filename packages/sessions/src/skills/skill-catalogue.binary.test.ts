import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, type AuditNote, systemClock } from "@tandem/protocol";
import { type Store } from "@tandem/storage";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { readFolderConfig } from "@tandem/workspace";
import { beforeEach, expect, test } from "vitest";
import { limitStore } from "../quotas/limit-store.ts";
import { takenNow } from "../quotas/taken-now.ts";
import { MovableClock } from "../host/movable-clock.ts";
import { folderSkills } from "./folder-skills.ts";
import { unpackBundle } from "./skill-bundle.ts";
import { SkillCatalogue } from "./skill-catalogue.ts";

let root: string;
let store: Store;
const clock = new MovableClock();
const notes: AuditNote[] = [];
const by = "ada";

beforeEach(async () => {
  root = await scratchFolder();
  store = await scratchStore(root);
  notes.length = 0;
});

/** Another process on the same store. */
const catalogue = (at: Store = store, ofFolders = async () => [] as Awaited<ReturnType<typeof folderSkills>>) =>
  new SkillCatalogue({ store: at, clock, ofFolders, note: async (note) => void notes.push(note) });

const files = (name: string, more: Record<string, string | Buffer> = {}) =>
  Object.entries({ "SKILL.md": `---\nname: ${name}\ndescription: x\n---\n`, ...more }).map(([path, content]) => ({
    filename: `${name}/${path}`,
    content: Buffer.from(content),
  }));

const records = async () =>
  (await Promise.all(["skill", "version", "unused"].map((kind) => store.records.list("skills", kind, { limit: 99 }))))
    .map(({ length }) => length)
    .join(" ");
/** A store on which one method fails, as if the process had died there. */
const dying = (broken: "before the archive" | "before the commit" | "after the commit"): Store => {
  const die = () => Promise.reject(new Error("died"));
  let writes = 0;
  return {
    ...store,
    blobs: { ...store.blobs, prune: die, ...(broken === "before the archive" && { put: die }) },
    records: {
      ...store.records,
      write: async (space, changes) => {
        writes += 1;
        if (broken === "before the commit" && writes > 1) return die();
        await store.records.write(space, changes);
        return broken === "after the commit" && writes > 1 ? die() : undefined;
      },
    },
  };
};

test.each(["before the archive", "before the commit"] as const)(
  "an upload that dies %s leaves nothing behind",
  async (where) => {
    const { id, latest_version_id: version } = await catalogue().create({ files: files("heron"), by });
    await expect(catalogue(dying(where)).createVersion(id, { files: files("heron", { a: "1" }), by })).rejects.toThrow(
      "died",
    );
    expect(await records()).toBe("1 1 1");
    expect((await catalogue().get(id)).latest_version_id).toBe(version);
    await catalogue().sweep();
    expect(await records(), "it may still be running").toBe("1 1 1");
    clock.advance(3_600_001);
    await catalogue().sweep();
    expect(await records()).toBe("1 1 0");
    expect(await store.blobs.prune(`skill:${version}`, new Set())).toBe(1);
  },
);

test("an upload that died is repeated with the same ids, as for a retry of the client", async () => {
  const ids = { skill: newId("skill"), version: newId("skillVersion") };
  const upload = (at: Store) => catalogue(at).create({ files: files("heron"), by }, ids);
  await expect(upload(dying("before the commit"))).rejects.toThrow("died");
  expect(await upload(store)).toMatchObject({ id: ids.skill, latest_version_id: ids.version });
  expect(await records()).toBe("1 1 0");
});

test("a committed upload is whole although its process died before it could say so", async () => {
  await expect(catalogue(dying("after the commit")).create({ files: files("heron"), by })).rejects.toThrow("died");
  const [skill] = (await catalogue().list({ limit: 9 })).data;
  const content = await catalogue().content(skill!.id, "latest");
  expect(await unpackBundle(await content.read())).toHaveLength(1);
  expect(await records()).toBe("1 1 0");
});

test("a deletion that dies before the archive is deleted is completed later", async () => {
  const { id, latest_version_id: version } = await catalogue().create({ files: files("heron"), by });
  await expect(catalogue(dying("after the commit")).delete(id, by)).rejects.toThrow("died");
  await expect(catalogue().get(id)).rejects.toThrow("There is no skill");
  clock.advance(3_600_001);
  await catalogue().sweep();
  expect(await records()).toBe("0 0 0");
  expect(await store.blobs.prune(`skill:${version}`, new Set())).toBe(0);
});

test("an upload that was suspended until its archive was swept is refused, not committed without content", async () => {
  const { id } = await catalogue().create({ files: files("heron"), by });
  const slow: Store = {
    ...store,
    blobs: {
      ...store.blobs,
      put: async (space, content) => {
        const sha256 = await store.blobs.put(space, content);
        clock.advance(3_600_001);
        await catalogue().sweep();
        return sha256;
      },
    },
  };
  await expect(catalogue(slow).createVersion(id, { files: files("heron", { a: "1" }), by })).rejects.toMatchObject({
    code: "conflict",
  });
  expect((await catalogue().versions(id, { limit: 9 })).data).toHaveLength(1);
});

test("concurrent uploads and deletions of one skill end in one order", async () => {
  const { id } = await catalogue().create({ files: files("heron"), by });
  const added = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      catalogue().createVersion(id, { files: files("heron", { a: String(index) }), by }),
    ),
  );
  const newest = added
    .map((version) => version.id)
    .toSorted()
    .at(-1);
  expect((await catalogue().get(id)).latest_version_id).toBe(newest);
  const all = (await catalogue().versions(id, { limit: 99 })).data;
  expect(all).toHaveLength(9);
  const results = await Promise.allSettled(all.map((version) => catalogue().deleteVersion(id, version.id, by)));
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
  const [left, ...others] = (await catalogue().versions(id, { limit: 99 })).data;
  expect(others).toEqual([]);
  expect((await catalogue().get(id)).latest_version_id).toBe(left!.id);
  const [deleted, created] = await Promise.allSettled([
    catalogue().delete(id, by),
    catalogue().createVersion(id, { files: files("heron", { b: "x" }), by }),
  ]);
  expect(deleted.status).toBe("fulfilled");
  if (created.status === "rejected") expect(created.reason).toMatchObject({ code: "not_found" });
  expect(await records()).toBe("0 0 0");
});

test("30 MB that cannot be compressed, with odd names, come back byte for byte; more is refused", async () => {
  const odd = { "Ünï/größe 1.bin": randomBytes(29 * 1_048_576), "日本/語.md": "x", "'quoted' \"name\".md": "y" };
  const { id } = await catalogue().create({ files: files("heron", odd), by });
  const content = await catalogue().content(id, "latest");
  const unpacked = await unpackBundle(await content.read());
  for (const [path, bytes] of Object.entries(odd)) {
    expect(unpacked.find((file) => file.path === path)!.content.equals(Buffer.from(bytes)), path).toBe(true);
  }
  const large = files("heron", { a: Buffer.alloc(31 * 1_048_576) });
  await expect(catalogue().create({ files: large, by })).rejects.toMatchObject({ code: "too_large" });
});

test("uploads count towards the quota of bytes", async () => {
  const limited = limitStore(store, () => ({ fileBytes: 5_000 }));
  const noise = (bytes: number) => ({ noise: randomBytes(bytes) });
  const { id } = await catalogue(limited).create({ files: files("heron", noise(3_000)), by });
  const taken = (await takenNow(limited, systemClock)).fileBytes;
  expect(taken).toBeGreaterThan(3_000);
  const second = catalogue(limited).createVersion(id, { files: files("heron", noise(3_000)), by });
  await expect(second).rejects.toMatchObject({ code: "too_large", detail: "quota_reached" });
  expect((await takenNow(limited, systemClock)).fileBytes, "a refused upload takes no space").toBe(taken);
  await catalogue(limited).delete(id, by);
  expect((await takenNow(limited, systemClock)).fileBytes).toBe(0);
});

test("skills of a trusted folder are listed last, can be downloaded, and are not changed here", async () => {
  const folder = join(root, "project");
  await mkdir(join(folder, ".claude/skills/greet"), { recursive: true });
  await writeFile(join(folder, ".claude/skills/greet/SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\nHi.\n");
  await writeFile(join(folder, ".claude/skills/greet/words.md"), "Words.");
  const trust = async (trusted: boolean) =>
    folderSkills([
      {
        trusted,
        state: trusted ? "trusted" : "untrusted",
        folder,
        since: null,
        config: await readFolderConfig(folder),
      },
    ]);
  const mixed = catalogue(store, () => trust(true));
  const uploaded = await mixed.create({ files: files("heron"), by });
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await mixed.list({ limit: 1, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next;
  }
  expect(ids).toHaveLength(2);
  expect(ids[0]).toBe(uploaded.id);
  const [skill] = (await mixed.list({ limit: 9, source: "plugin" })).data;
  expect(skill).toMatchObject({ id: ids[1], display_name: "greet", source: { type: "plugin" } });
  expect((await mixed.list({ limit: 9, source: "custom" })).data).toHaveLength(1);
  expect(await mixed.version(skill!.id, "latest")).toMatchObject({ name: "greet", description: "Greets." });
  expect((await mixed.versions(skill!.id, { limit: 9 })).data).toHaveLength(1);
  expect(await unpackBundle(await (await mixed.content(skill!.id, "latest")).read())).toHaveLength(2);
  expect(await mixed.use(skill!.id)).toMatchObject({ folder, versions: [{ files: 2 }] });
  await expect(mixed.delete(skill!.id, by)).rejects.toThrow(`belongs to the folder ${folder}`);
  await expect(mixed.createVersion(skill!.id, { files: files("greet"), by })).rejects.toThrow("belongs to the folder");
  expect((await catalogue(store, () => trust(false)).list({ limit: 9 })).data).toHaveLength(1);
});
