import { expect } from "vitest";
import { MIGRATIONS, POSTGRES, SCHEMA_VERSION, SQLITE } from "../operations/schema/migrations.ts";
import { openStore } from "../open-store.ts";
import { message, sessionRow } from "./samples.ts";
import { numbers, type Behaviours } from "./storage-stage.ts";

export const verifyWhole: Behaviours = {
  "An empty database opened by many processes at once is migrated once": async (stage) => {
    const location = await stage.fixture.location();
    const stores = await Promise.all(numbers(6).map(() => openStore(location)));
    const row = sessionRow();
    await stores[0]!.sessions.create(row, []);
    for (const store of stores) expect(await store.sessions.get(row.id)).toEqual(row);
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect((await stage.fixture.dump(location)).match(/"applied_at"/g)).toHaveLength(SCHEMA_VERSION);
  },

  "Stored data survives closing and reopening": async (stage) => {
    const location = await stage.fixture.location();
    const row = sessionRow();
    {
      await using store = await openStore(location);
      await store.sessions.create(row, []);
      const lease = (await store.leases.take(row.id, "me", 60_000))!;
      await store.events.append(lease, [{ thread: null, event: message("stored") }]);
    }
    await using store = await openStore(location);
    expect(await store.sessions.get(row.id)).toEqual(row);
    expect(await store.events.read(row.id, { limit: 5 })).toHaveLength(1);
  },

  "A newer schema is rejected and left unchanged": async (stage) => {
    const add = (location: string, version: number, compatible: number): Promise<void> =>
      stage.fixture.execute(location, `insert into schema_version values (${version}, 0, ${compatible})`);
    const location = await stage.fixture.location();
    await (await openStore(location))[Symbol.asyncDispose]();
    const good = await stage.fixture.dump(location);
    for (const versions of [[[SCHEMA_VERSION + 1, 0]], [[SCHEMA_VERSION + 2, 1]]]) {
      for (const [version, compatible] of versions) await add(location, version!, compatible!);
      const before = await stage.fixture.dump(location);
      await expect(openStore(location)).rejects.toMatchObject({
        code: "schema_too_new",
        fix: expect.stringContaining("newer Tandem"),
      });
      expect(await stage.fixture.dump(location)).toBe(before);
      await stage.fixture.execute(location, `delete from schema_version where version > ${SCHEMA_VERSION}`);
    }
    expect(await stage.fixture.dump(location)).toBe(good);
  },

  "A schema one version newer is accepted if marked compatible": async (stage) => {
    const location = await stage.fixture.location();
    await using store = await openStore(location);
    // A newer Tandem migrates the database while this one is open.
    await stage.fixture.execute(location, "alter table session add column mood text");
    await stage.fixture.execute(location, `insert into schema_version values (${SCHEMA_VERSION + 1}, 0, 1)`);
    await store.check();
    await using late = await openStore(location);
    expect((await late.describe()).schema).toBe(SCHEMA_VERSION + 1);
    const row = sessionRow();
    await late.sessions.create(row, []);
    const lease = (await store.leases.take(row.id, "me", 60_000))!;
    await store.events.append(lease, [{ thread: null, event: message("stored") }], { session: { title: "old" } });
    expect(await late.sessions.get(row.id)).toMatchObject({ title: "old" });
  },

  "Data of an older Tandem is kept and found after the upgrade": async (stage) => {
    const location = await stage.fixture.location();
    const dialect = stage.fixture.name === "postgres" ? POSTGRES : SQLITE;
    const execute = (text: string): Promise<void> => stage.fixture.execute(location, text);
    if (dialect === POSTGRES) await execute("create schema tandem");
    await execute(
      `create table schema_version (version ${dialect.int} primary key, applied_at ${dialect.int} not null)`,
    );
    for (const [index, { statements }] of MIGRATIONS.slice(0, 5).entries()) {
      for (const statement of statements(dialect)) await execute(statement);
      await execute(`insert into schema_version values (${index + 1}, 0)`);
    }
    const [asking, quiet] = [sessionRow(), sessionRow({ title: 'says "waitingFor":[{' })];
    for (const row of [asking, quiet]) {
      const { id: _id, status: _status, agent, environmentId: _environment, place: _place, ...state } = row;
      const asks = [{ event_id: "sevt_1", type: "tool_confirmation", name: "Bash" }];
      const body = JSON.stringify({ ...state, waitingFor: row === asking ? asks : [] });
      await execute(`insert into session (id, status, agent_id, agent_version, environment_id, micros, created_at,
        updated_at, state) values ('${row.id}', 'idle', 'agent_1', 1, 'env_1', 0, 1, 1, '${body}')`);
      await execute(`insert into agent_snapshot values ('${row.id}', '', '${JSON.stringify(agent)}')`);
      await execute(`insert into log (session, seq, inbox_seq, lease_token) values ('${row.id}', 0, 0, 0)`);
    }
    await execute("insert into token values ('tok_1', 'old', 'abc', '[\"run\"]', 1, null)");
    await using store = await openStore(location);
    const { data } = await store.sessions.list({ limit: 10, waiting: true });
    expect(data.map(({ id, place }) => ({ id, place }))).toEqual([{ id: asking.id, place: null }]);
    expect(await store.tokens.findByHash("abc")).toMatchObject({ tenant: "default", scopes: ["run"] });
    expect((await store.tenants.list()).map(({ id }) => id)).toEqual(["default"]);
    const lease = (await store.leases.take(quiet.id, "me", 60_000))!;
    expect(await store.events.append(lease, [{ thread: null, event: message("goes on") }])).toHaveLength(1);
  },

  "A store describes its engine and location, and checks itself": async (stage) => {
    const described = await stage.store.describe();
    expect(described).toMatchObject({ engine: stage.fixture.name, schema: SCHEMA_VERSION });
    expect(described.bytes).toBeGreaterThan(10_000);
    expect(described.place).not.toBe("");
    await expect(stage.store.check()).resolves.toBeUndefined();
  },

  "A closed store rejects calls; calls in progress complete": async (stage) => {
    const row = sessionRow();
    const store = await openStore(stage.location);
    await store.sessions.create(row, []);
    const lease = (await store.leases.take(row.id, "me", 60_000))!;
    const underWay = stage.appendEach(lease, numbers(300).map(String), store);
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
    expect(await underWay).toHaveLength(300);
    expect(await stage.store.events.head(row.id)).toBe(300);
    await expect(store.sessions.get(row.id)).rejects.toMatchObject({ code: "unavailable" });
    await expect(stage.appendEach(lease, ["late"], store)).rejects.toMatchObject({ code: "unavailable" });
    for await (const batch of store.events.follow(row.id, 0, AbortSignal.timeout(5_000))) expect(batch).toEqual([]);
  },
};
