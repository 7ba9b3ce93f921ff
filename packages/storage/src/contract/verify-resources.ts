import { createHash, randomBytes } from "node:crypto";
import { newId } from "@tandem/protocol";
import { expect } from "vitest";
import { LeaseLost } from "../lease-lost.ts";
import type { TokenRow } from "../store.ts";
import { agent, environment, file } from "./samples.ts";
import { defaultTenantOnly, numbers, type Behaviours } from "./storage-stage.ts";

const later = "2030-01-01T00:00:00.000Z";

export const verifyResources: Behaviours = {
  "Agents are read by newest version, by exact version and as a list of versions": async (stage) => {
    const { agents } = stage.store;
    const first = agent({ name: "one" });
    await agents.create(first);
    const second = { ...first, name: "two", version: 2, updated_at: later };
    await agents.addVersion(second);
    expect(await agents.get(first.id)).toEqual(second);
    expect(await agents.get(first.id, 1)).toEqual(first);
    expect(await agents.get(first.id, 3)).toBeUndefined();
    expect(await agents.get(newId("agent"))).toBeUndefined();
    await agents.addVersion({ ...first, version: 3 });
    const id = first.id as ReturnType<typeof newId<"agent">>;
    const page = await agents.versions(id, { limit: 2 });
    expect(page.data.map(({ version }) => version)).toEqual([3, 2]);
    const rest = await agents.versions(id, { limit: 2, cursor: page.next! });
    expect(rest.data).toEqual([first]);
    expect(rest.next).toBeNull();
    expect((await agents.versions(id, { limit: 2, cursor: rest.previous! })).data).toEqual(page.data);
  },

  "One of two concurrent additions of the same version is rejected": async (stage) => {
    const made = agent();
    await stage.store.agents.create(made);
    await expect(stage.store.agents.create(made)).rejects.toMatchObject({ code: "conflict" });
    const outcomes = await Promise.allSettled(
      numbers(6).map((number) =>
        (number % 2 ? stage.store : stage.other).agents.addVersion({ ...made, version: 2, name: `${number}` }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({ code: "conflict", message: expect.stringContaining("is 2") });
    }
    await expect(stage.store.agents.addVersion({ ...made, version: 4 })).rejects.toMatchObject({ code: "conflict" });
    await expect(stage.store.agents.addVersion(agent({ version: 2 }))).rejects.toMatchObject({ code: "not_found" });
  },

  "Archived agents are listed only on request": async (stage) => {
    const { agents } = stage.store;
    const made = agent();
    await agents.create(made);
    const ids = async (includeArchived: boolean): Promise<string[]> =>
      (await agents.list({ limit: 100, includeArchived })).data.map(({ id }) => id);
    expect(await ids(false)).toContain(made.id);
    await agents.archive(made.id as never, later);
    expect(await agents.get(made.id)).toEqual({ ...made, archived_at: later });
    expect(await ids(false)).not.toContain(made.id);
    expect(await ids(true)).toContain(made.id);
    await expect(agents.archive(newId("agent"), later)).rejects.toMatchObject({ code: "not_found" });
  },

  "Environments are created, updated, listed and deleted": async (stage) => {
    const { environments } = stage.store;
    const made = environment({ created_at: "2020-01-01T00:00:00.000Z" });
    await environments.create(made);
    await expect(environments.create(made)).rejects.toMatchObject({ code: "conflict" });
    const changed = { ...made, name: "There", updated_at: later };
    await environments.update(changed);
    expect(await environments.get(made.id)).toEqual(changed);
    const oldest = { limit: 1, order: "asc", created: { lt: "2020-01-02T00:00:00Z" } } as const;
    expect((await environments.list(oldest)).data).toEqual([changed]);
    await environments.update({ ...changed, archived_at: later });
    expect((await environments.list(oldest)).data).toEqual([]);
    expect((await environments.list({ ...oldest, includeArchived: true })).data).toHaveLength(1);
    await environments.delete(made.id as never);
    expect(await environments.get(made.id)).toBeUndefined();
    await expect(environments.update(made)).rejects.toMatchObject({ code: "not_found" });
  },

  "An environment used by an unarchived session cannot be deleted": async (stage) => {
    const made = environment();
    await stage.store.environments.create(made);
    const lease = await stage.session({ environmentId: made.id });
    const refused = stage.store.environments.delete(made.id as never);
    await expect(refused).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(lease.session) });
    await stage.store.events.append(lease, [], { session: { archivedAt: later } });
    await stage.store.environments.delete(made.id as never);
    expect(await stage.store.environments.get(made.id)).toBeUndefined();
  },

  "File content round-trips, from empty to several chunks": defaultTenantOnly(async (stage) => {
    const { files } = stage.store;
    for (const size of [0, 1, 1_048_576, 2_500_000]) {
      const content = new Uint8Array(randomBytes(size));
      const made = file(size);
      await files.create(made, content);
      expect(await files.get(made.id)).toEqual(made);
      const found = await stage.other.files.content(made.id as never);
      expect(createHash("sha256").update(found!).digest("hex")).toBe(
        createHash("sha256").update(content).digest("hex"),
      );
      expect(await files.delete(made.id as never)).toBe(true);
      expect(await files.delete(made.id as never)).toBe(false);
      expect(await files.content(made.id as never)).toBeUndefined();
      expect(await files.get(made.id)).toBeUndefined();
    }
  }),

  "Files are listed by id and by session": async (stage) => {
    const { session } = await stage.session();
    const scoped = file(0, { scope: { type: "session", id: session } });
    const others = [file(0), file(0)];
    for (const each of [scoped, ...others]) await stage.store.files.create(each, new Uint8Array());
    const list = async (query: object) => (await stage.store.files.list({ limit: 10, order: "asc", ...query })).data;
    expect(await list({ scope: session })).toEqual([scoped]);
    expect((await list({ ids: [others[1]!.id, scoped.id] })).map(({ id }) => id).sort()).toEqual(
      [others[1]!.id, scoped.id].sort(),
    );
    expect(await list({ ids: [] })).toEqual([]);
  },

  "Lines keep their order, duplicates are skipped, and subpaths are separate": async (stage) => {
    const { transcripts } = stage.store;
    const lease = await stage.session();
    const line = (number: number) => ({ zebra: number, uuid: `u${number}`, text: "NUL \u0000" });
    await transcripts.append(lease, "main", numbers(450).map(line));
    await transcripts.append(lease, "main", [line(450), line(451), { type: "no uuid" }, { type: "no uuid" }]);
    await transcripts.append(lease, "subagents/a", [line(1)]);
    const lines = await stage.other.transcripts.load(lease.session, "main");
    expect(lines).toEqual([...numbers(451).map(line), { type: "no uuid" }, { type: "no uuid" }]);
    expect(Object.keys(lines[0]!)).toEqual(["zebra", "uuid", "text"]);
    expect(await transcripts.load(lease.session, "subagents/a")).toEqual([line(1)]);
    expect(await transcripts.subpaths(lease.session)).toEqual(["main", "subagents/a"]);
    expect(await transcripts.load(lease.session, "none")).toEqual([]);
    expect(await transcripts.subpaths(newId("session"))).toEqual([]);
  },

  "A transcript is replaced completely": async (stage) => {
    const { transcripts } = stage.store;
    const lease = await stage.session();
    await transcripts.append(lease, "main", [{ uuid: "a" }, { uuid: "b" }]);
    await transcripts.append(lease, "other", [{ uuid: "a" }]);
    await transcripts.replace(lease, "main", [{ uuid: "b", rewound: true }, { uuid: "c" }]);
    expect(await transcripts.load(lease.session, "main")).toEqual([{ uuid: "b", rewound: true }, { uuid: "c" }]);
    expect(await transcripts.load(lease.session, "other")).toHaveLength(1);
    await transcripts.replace(lease, "main", []);
    expect(await transcripts.subpaths(lease.session)).toEqual(["other"]);
  },

  "Only the lease holder writes transcripts": async (stage) => {
    const { session, token } = await stage.session();
    const { transcripts } = stage.store;
    await transcripts.append({ session, token }, "main", [{ uuid: "a" }]);
    const late = { session, token: token + 1 };
    await expect(transcripts.append(late, "main", [{ uuid: "b" }])).rejects.toBeInstanceOf(LeaseLost);
    await expect(transcripts.replace(late, "main", [])).rejects.toBeInstanceOf(LeaseLost);
    expect(await transcripts.load(session, "main")).toEqual([{ uuid: "a" }]);
  },

  "Tokens are found by hash, listed, touched and deleted": defaultTenantOnly(async (stage) => {
    const { tokens } = stage.store;
    const token: TokenRow = {
      id: newId("token"),
      name: "laptop",
      tenant: "default",
      sha256: randomBytes(32).toString("hex"),
      scopes: ["read", "run"],
      createdAt: later,
      lastUsedAt: null,
    };
    await tokens.create(token);
    await expect(tokens.create({ ...token, id: newId("token") })).rejects.toMatchObject({ code: "conflict" });
    expect(await stage.other.tokens.findByHash(token.sha256)).toEqual(token);
    await tokens.touch(token.id, later);
    expect(await tokens.list()).toContainEqual({ ...token, lastUsedAt: later });
    expect(await tokens.delete(token.id)).toBe(true);
    expect(await tokens.delete(token.id)).toBe(false);
    expect(await tokens.findByHash(token.sha256)).toBeUndefined();
  }),
};
