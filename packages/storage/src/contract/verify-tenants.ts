import { expect } from "vitest";
import { newId, type SessionId } from "@tandem/protocol";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import { agent, file, job, message, sent, sessionRow, tenantRow, textOf, tokenRow } from "./samples.ts";
import { collect, numbers, until, type Stage, type Behaviours } from "./storage-stage.ts";

/** Two new tenants, opened in this process and in another. */
async function two(stage: Stage): Promise<AsyncDisposable & { ids: string[]; here: Store[]; there: Store[] }> {
  const rows = [tenantRow(), tenantRow()];
  for (const row of rows) await stage.store.tenants.create(row);
  const ids = rows.map(({ id }) => id);
  const here = await Promise.all(ids.map((id) => stage.store.tenant(id)));
  const there = await Promise.all(ids.map((id) => stage.other.tenant(id)));
  return {
    ids,
    here,
    there,
    [Symbol.asyncDispose]: async () => {
      for (const store of [...here, ...there]) await store[Symbol.asyncDispose]();
    },
  };
}

/** Creates the session with one event that names its owner. */
async function speak(store: Store, id: SessionId, text: string): Promise<void> {
  await store.sessions.create(sessionRow({ id, title: text }), []);
  const lease = (await store.leases.take(id, text, 60_000))!;
  await store.events.append(lease, [{ thread: null, event: message(text) }]);
}

export const verifyTenants: Behaviours = {
  "Tenants are created, listed, changed and archived; the default tenant always exists": async (stage) => {
    const { tenants } = stage.store;
    const row = tenantRow();
    await tenants.create(row);
    expect(await stage.other.tenants.get(row.id)).toEqual(row);
    const ids = (await stage.other.tenants.list()).map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(ids).toEqual(expect.arrayContaining(["default", row.id]));
    await expect(tenants.create(row)).rejects.toMatchObject({ code: "conflict" });
    for (const id of ["", "Acme", "a b", "a_b", 'a"b', "../up", "x".repeat(41)]) {
      await expect(tenants.create(tenantRow({ id }))).rejects.toMatchObject({ code: "invalid_request" });
    }
    const archivedAt = "2026-03-04T05:06:07.000Z";
    const changed = { ...row, name: "Acme", archivedAt, limits: { dailyUsd: 5 }, settings: {} };
    expect(await tenants.update(row.id, changed)).toEqual(changed);
    expect(await tenants.update(row.id, { archivedAt: null })).toEqual({ ...changed, archivedAt: null });
    expect(await tenants.update(row.id, {})).toEqual({ ...changed, archivedAt: null });
    expect(await tenants.update("default", { limits: { maxSessions: 9 } })).toMatchObject({
      limits: { maxSessions: 9 },
    });
    await expect(tenants.update("default", { archivedAt })).rejects.toMatchObject({ code: "conflict" });
    await expect(tenants.delete("default")).rejects.toMatchObject({ code: "conflict" });
    const notFound = { code: "not_found" };
    await expect(tenants.update("nobody", {})).rejects.toMatchObject(notFound);
    await expect(tenants.delete("nobody")).rejects.toMatchObject(notFound);
    await expect(stage.store.tenant("nobody")).rejects.toMatchObject(notFound);
    expect(await stage.store.tenant("default")).toBe(stage.store);
  },

  "Tenants are isolated from each other, even with equal ids": async (stage) => {
    await using tenants = await two(stage);
    const { ids, here, there } = tenants;
    const id = newId("session");
    const all = [stage.store, ...here];
    const names = ["default", ...ids];
    const made = agent();
    const content = Buffer.from("same");
    const upload = file(content.length);
    const work = job();
    const space = newId("context");
    for (const [index, store] of all.entries()) {
      await speak(store, id, `of ${names[index]}`);
      await store.agents.create({ ...made, name: `of ${names[index]}` });
      await store.files.create({ ...upload, filename: `of ${names[index]}` }, content);
      await store.jobs.create({ ...work, kind: `of ${names[index]}` });
      await store.search.put(space, [{ key: "k", kind: "note", hash: "h", title: "word", text: `of ${names[index]}` }]);
    }
    for (const [index, store] of [stage.other, ...there].entries()) {
      const own = `of ${names[index]}`;
      expect(await store.sessions.get(id)).toMatchObject({ title: own });
      expect((await store.events.read(id, { limit: 9 })).map(({ event }) => textOf(event))).toEqual([own]);
      expect((await store.leases.held()).filter(({ session }) => session === id)).toMatchObject([{ holder: own }]);
      expect(await store.agents.get(made.id)).toMatchObject({ name: own });
      expect(await store.files.get(upload.id)).toMatchObject({ filename: own });
      expect(await store.jobs.get(work.id)).toMatchObject({ kind: own });
      const hits = await store.search.search(space, { text: "word", limit: 9 });
      expect(hits.map(({ snippet }) => snippet)).toEqual([expect.stringContaining(names[index]!)]);
    }
    const mine = sessionRow();
    await here[0]!.sessions.create(mine, [sent("waits")]);
    for (const store of [stage.store, here[1]!, there[1]!]) {
      expect(await store.sessions.get(mine.id)).toBeUndefined();
      expect(await store.inputQueue.sessions()).not.toContain(mine.id);
      await expect(store.leases.take(mine.id, "stranger", 1_000)).rejects.toMatchObject({ code: "not_found" });
      await expect(store.inputQueue.put(mine.id, [sent("stranger")])).rejects.toMatchObject({ code: "not_found" });
    }
    // Shared stores are visible to all tenants.
    const token = tokenRow({ tenant: ids[0] });
    await here[0]!.tokens.create(token);
    expect(await stage.store.tokens.list(ids[0])).toEqual([token]);
    expect(await there[1]!.tokens.findByHash(token.sha256)).toEqual(token);
    expect(await stage.store.tokens.list(ids[1])).toEqual([]);
  },

  "Notifications reach listeners of their own tenant in any process, and no other tenant's": async (stage) => {
    await using tenants = await two(stage);
    const { here, there } = tenants;
    const id = newId("session");
    for (const store of here) await speak(store, id, "first");
    const heard: string[][] = [[], []];
    for (const [index, store] of there.entries()) store.inputQueue.onPut((session) => heard[index]!.push(session));
    const followed = there.map((store) => collect(store, id, 0, 3));
    const append = async (store: Store, text: string): Promise<void> => {
      const lease = (await store.leases.take(id, "me", 60_000))!;
      await store.events.append(lease, [{ thread: null, event: message(text) }]);
      await store.leases.release(lease);
    };
    for (const store of here) {
      const { holder } = (await store.leases.holder(id))!;
      expect(holder).toBe("first");
      await store.leases.release({ session: id, token: 1 });
    }
    await append(here[1]!, "second");
    await append(here[1]!, "third");
    expect((await followed[1]!).map(({ event }) => textOf(event))).toEqual(["first", "second", "third"]);
    // Deleting the session in one tenant does not affect the other.
    const lease = (await here[1]!.leases.take(id, "me", 60_000))!;
    await here[1]!.sessions.delete(lease);
    await append(here[0]!, "own");
    await here[0]!.inputQueue.put(id, [sent("hello")]);
    await until(() => heard[0]![0]);
    await append(here[0]!, "last");
    expect((await followed[0]!).map(({ event }) => textOf(event))).toEqual(["first", "own", "last"]);
    expect(heard).toEqual([[id], []]);
  },

  "Many tenants share connections without mixing their tables": async (stage) => {
    const rows = numbers(3).map(() => tenantRow());
    for (const row of rows) await stage.store.tenants.create(row);
    const id = newId("session");
    await Promise.all(
      rows.map(async (row, index) => {
        // Created by one process, used by both.
        const stores = [await stage.store.tenant(row.id), await stage.other.tenant(row.id)];
        await speak(stores[0]!, id, row.id);
        const lease = { session: id, token: 1 };
        await Promise.all(
          numbers(30).map(async (number) => {
            const store = stores[number % 2]!;
            // Mixes transactions, single statements and rollbacks.
            const change = number % 3 ? undefined : { session: { title: `${row.id} ${number}` } };
            await store.events.append(lease, [{ thread: null, event: message(row.id) }], change);
            await expect(store.sessions.create(sessionRow({ id }), [])).rejects.toMatchObject({ code: "conflict" });
            expect((await store.sessions.get(id))!.title).toContain(row.id);
          }),
        );
        const events = await stores[index % 2]!.events.read(id, { limit: 100 });
        expect(events.map(({ event, seq }) => [seq, textOf(event)])).toEqual(numbers(31).map((seq) => [seq, row.id]));
        for (const store of stores) await store[Symbol.asyncDispose]();
      }),
    );
    expect(await stage.store.sessions.get(id)).toBeUndefined();
  },

  "Deleting an archived tenant removes all its data, and its id can be reused": async (stage) => {
    const row = tenantRow();
    await stage.store.tenants.create(row);
    const [here, there] = [await stage.store.tenant(row.id), await stage.other.tenant(row.id)];
    const id = newId("session");
    await speak(here, id, "secret of theirs");
    const token = tokenRow({ tenant: row.id });
    await stage.store.tokens.create(token);
    await expect(stage.store.tenants.delete(row.id)).rejects.toMatchObject({ code: "conflict" });
    // The refused deletion changed nothing.
    expect(await (await stage.store.tenant(row.id)).sessions.get(id)).toBeDefined();
    expect(await there.sessions.get(id)).toBeDefined();
    await stage.store.tenants.update(row.id, { archivedAt: new Date().toISOString() });
    await stage.store.tenants.delete(row.id);
    const dump = await stage.fixture.dump(stage.location);
    for (const trace of [row.id, id, token.sha256]) expect(dump).not.toContain(trace);
    expect(await stage.other.tenants.get(row.id)).toBeUndefined();
    await expect(there.sessions.get(id)).rejects.toMatchObject({
      code: expect.stringMatching(/^(not_found|unavailable)$/),
    });
    await expect(stage.store.tenant(row.id)).rejects.toMatchObject({ code: "not_found" });
    await stage.store.tenants.create({ ...row, createdAt: "2026-05-05T05:05:05.000Z" });
    await using again = await stage.other.tenant(row.id);
    expect((await again.sessions.list({ limit: 5 })).data).toEqual([]);
    expect(await stage.store.tokens.list(row.id)).toEqual([]);
  },

  "A tenant's store is cached, reopened after closing, and closed with the root store": async (stage) => {
    const row = tenantRow();
    const store = await openStore(stage.location);
    await store.tenants.create(row);
    const theirs = await store.tenant(row.id);
    expect(await store.tenant(row.id)).toBe(theirs);
    expect(await theirs.tenant("default")).toBe(store);
    expect(await store.borrowTenant(row.id, async (lent) => lent)).toBe(theirs);
    const session = sessionRow();
    await theirs.sessions.create(session, []);
    await theirs[Symbol.asyncDispose]();
    await expect(theirs.sessions.get(session.id)).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.check()).resolves.toBeUndefined();
    const lent = await store.borrowTenant(row.id, (each) =>
      store.borrowTenant(row.id, async (same) => ({ each, same, found: await each.sessions.get(session.id) })),
    );
    expect(lent.same).toBe(lent.each);
    expect(lent.found).toEqual(session);
    await expect(lent.each.sessions.get(session.id)).rejects.toMatchObject({ code: "unavailable" });
    const again = await store.tenant(row.id);
    expect(await again.sessions.get(session.id)).toEqual(session);
    expect((await again.describe()).schema).toBe((await store.describe()).schema);
    await store[Symbol.asyncDispose]();
    await expect(again.sessions.get(session.id)).rejects.toMatchObject({ code: "unavailable" });
  },
};
