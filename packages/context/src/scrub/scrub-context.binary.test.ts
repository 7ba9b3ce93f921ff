import { configSchema } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { git } from "@tandem/workspace";
import { execFile } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { openContextFolder } from "../folder/open-context-folder.ts";
import { createProposals } from "../proposals/create-proposals.ts";
import { ContextSearch } from "../search/context-search.ts";
import { scrubContext, type ScrubSettings } from "./scrub-context.ts";

const PATH = "catalogue/shop/main.customers.yaml";
const fileWith = (mails: readonly string[], more = "") => `connection: shop
schema: main
table: customers
type: table
columns:
  - name: email
    type: TEXT
    descriptions: { human: Where we write to., ai: "Address such as ${mails[0]}" }
    profile:
      nulls: 0
      distinct: 2
      min: ${mails[0]}
      samples: [${mails.join(", ")}]
  # Kept by hand.
  - name: city
    type: TEXT
    profile: { nulls: 0, distinct: 2, samples: [Quakenbrück, Bonn] }
${more}`;
const OLD = ["petra.zwiebel@example.com", "jens.knall@example.com"];
const OLDER = ["uralt.muster@example.com", "noch.einer@example.com"];
const SECRETS = ["wiebel", "knall", "muster", "noch.einer"];

let home: string;
let path: string;
beforeEach(async () => {
  home = await scratchFolder();
  path = join(home, "context");
});

/** A context whose history has values in several commits, one of them on another branch, and one in a tag. */
async function prepare() {
  const folder = await openContextFolder({ path, git: "own" });
  const first = fileWith(OLDER);
  await folder.commit([{ path: PATH, expected: null, content: first }], { subject: "First scan" });
  await git(path, ["branch", "other"]);
  await git(path, ["-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "v1", "-m", "Version 1"]);
  const broken = `${first}  : broken [`;
  await folder.commit([{ path: PATH, expected: first, content: broken }], { subject: "Broken" });
  const last = fileWith(OLD, "notes: By hand.\n");
  await folder.commit([{ path: PATH, expected: broken, content: last }], { subject: "Second scan" });
  return { folder, last };
}

const objectsOf = async () => git(path, ["cat-file", "--batch", "--batch-all-objects", "--unordered"]);

/** The refs and files of a repository, for a comparison. */
async function stateOf(): Promise<string> {
  return [
    await git(path, ["for-each-ref"]),
    await git(path, ["status", "--porcelain"]),
    await readFile(join(path, PATH), "utf8"),
  ].join("\n");
}

describe("tandem context scrub", () => {
  test("removes values from files, index, proposals, caches and history, after a dry run and a backup", async () => {
    const { folder, last } = await prepare();
    const store = await openStore(join(home, "tandem.db"));
    const space = folder.id;
    const accept = configSchema.parse({ context: { accept: { structure: "never" } } }).context.accept;
    const proposals = createProposals({ folder, store, space, accept });
    const search = new ContextSearch({ folder, store });
    await search.sync();
    const evidence = [{ type: "database" as const, connection: "shop", table: "main.customers", finding: "seen" }];
    const whole = [{ from: 1, to: Infinity, aspect: "profile" as const, evidence }];
    const draft = {
      path: PATH,
      before: last,
      after: last.replaceAll("knall", "zwiebel2"),
      support: whole,
      removal: whole,
    };
    const proposed = await proposals.propose({ job: "job_1", title: "Scan", summary: "", drafts: [draft] });
    await store.records.write(space, [{ type: "put", kind: "step", key: "description/1", value: { table: "wiebel" } }]);
    const settings: ScrubSettings = {
      context: { id: space, folder, search },
      store,
      samples: "values",
      isForAll: false,
      history: { git: "own", bundles: join(home, "bundles"), force: false },
      apply: false,
    };

    const before = await stateOf();
    const dry = await scrubContext(settings);
    expect(dry).toMatchObject({
      applied: false,
      tables: [{ path: PATH, columns: ["email"] }],
      proposals: 1,
      cachedSteps: 1,
      history: { commits: 4, changed: 3, done: null },
    });
    expect(await stateOf()).toBe(before);

    const { history } = await scrubContext({ ...settings, apply: true });
    expect(history?.done).toMatchObject({ left: 0 });
    const text = await readFile(join(path, PATH), "utf8");
    expect(text).toContain("# Kept by hand.");
    expect(text).toContain("human: Where we write to.");
    expect(text).toContain("samples: [Quakenbrück, Bonn]");
    expect(text).toContain("personal: e-mail address");
    const objects = await objectsOf();
    expect(objects).toContain("Quakenbrück");
    for (const secret of SECRETS) expect(objects).not.toContain(secret);
    expect(await git(path, ["status", "--porcelain"])).toBe("");
    expect(await git(path, ["log", "--format=%s", "main"])).toBe(
      "Scrub samples\nSecond scan\nBroken\nFirst scan\nBegin the context\n",
    );
    expect(await git(path, ["cat-file", "-p", "v1"])).toContain("Version 1");
    await git(path, ["fsck", "--strict"]);
    expect(await store.records.list(space, "step", { limit: 10 })).toEqual([]);
    expect(JSON.stringify(await proposals.get(proposed!.id))).not.toMatch(/wiebel|knall/);
    expect((await proposals.get(proposed!.id))?.base).not.toBe(proposed!.base);
    expect(await search.search({ text: "knall", kinds: ["value"], limit: 5 })).toEqual([]);
    await store[Symbol.asyncDispose]();
    const stored = await Promise.all(
      (await readdir(home))
        .filter((name) => name.startsWith("tandem.db"))
        .map((name) => readFile(join(home, name), "latin1")),
    );
    expect(stored.join("")).not.toMatch(/wiebel|knall/);

    // Only the backup has the old values, and it restores the old state.
    const { bundle, restore } = history!.done!;
    expect((await stat(bundle)).mode & 0o777).toBe(0o600);
    await promisify(execFile)("sh", ["-c", restore]);
    expect(await readFile(join(path, PATH), "utf8")).toBe(last);
  });

  test("refuses a repository with a remote unless forced, and a context in the project's repository", async () => {
    const { folder } = await prepare();
    await git(path, ["remote", "add", "origin", "https://example.com/x.git"]);
    const nothing = {
      get: async () => undefined,
      getMany: async () => [],
      list: async () => [],
      write: async () => {},
    };
    const settings: ScrubSettings = {
      context: { id: folder.id, folder, search: { sync: async () => {} } },
      store: {
        records: nothing,
        search: { eraseDeleted: async () => {} },
        jobs: { list: async () => ({ data: [], nextPage: null, hasMore: false }) as never },
      },
      samples: "values",
      isForAll: true,
      history: { git: "own", bundles: join(home, "bundles"), force: false },
      apply: true,
    };
    await expect(scrubContext(settings)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("origin"),
    });
    await expect(
      scrubContext({ ...settings, history: { ...settings.history!, git: "project" } }),
    ).rejects.toMatchObject({
      code: "not_supported",
    });
    expect(await readFile(join(path, PATH), "utf8")).toContain("wiebel");
    const { history } = await scrubContext({ ...settings, history: { ...settings.history!, force: true } });
    expect(history).toMatchObject({ remotes: ["origin"], done: { left: 0 } });
    // With --all, no column keeps values.
    expect(await objectsOf()).not.toMatch(/wiebel|knall|muster|Quakenbrück/);
  });

  test.each(["commit", "journal"])("killed at %s: the repository is the old or the new one", async (point) => {
    await prepare();
    const script = new URL("testing/killed-scrub.ts", import.meta.url).pathname;
    const killed = await promisify(execFile)(process.execPath, [script, path, point]).catch((error: unknown) => error);
    expect(killed).toMatchObject({ signal: "SIGKILL" });
    await git(path, ["fsck", "--strict"]);
    // The next process that opens the context completes a rewrite that was under way.
    await openContextFolder({ path, git: "own" });
    const objects = await objectsOf();
    const isOld = point === "commit";
    for (const secret of SECRETS) expect(objects.includes(secret)).toBe(isOld);
    expect(await git(path, ["status", "--porcelain"])).toBe("");
    expect((await git(path, ["log", "--format=%s", "main"])).split("\n")[1]).toBe("Second scan");
    await writeFile(join(path, PATH), fileWith(["x@example.com"]));
    await (await openContextFolder({ path, git: "own" })).head();
    expect(await git(path, ["log", "-1", "--format=%s"])).toBe("Edited by hand\n");
  });
});
