import { newId } from "@tandem/protocol";
import { expect } from "vitest";
import { LeaseLost } from "../lease-lost.ts";
import type { SessionRow } from "../store.ts";
import type { PageQuery } from "../page.ts";
import { file, sent, sessionAgent, sessionRow, threadRow, usage } from "./samples.ts";
import { defaultTenantOnly, numbers, type Stage, type Behaviours } from "./storage-stage.ts";

const day = (number: number): string => new Date(Date.UTC(2025, 5, number)).toISOString();

/** Creates sessions of a new agent, one per day, so that other sessions do not appear in the lists. */
async function series(stage: Stage, days: readonly number[]): Promise<{ rows: SessionRow[]; agentId: string }> {
  const agentId = newId("agent");
  const rows = days.map((number) => sessionRow({ agent: sessionAgent({ id: agentId }), createdAt: day(number) }));
  for (const row of rows) await stage.store.sessions.create(row, []);
  return { rows, agentId };
}

export const verifySessions: Behaviours = {
  "A session round-trips with its primary thread and input": defaultTenantOnly(async (stage) => {
    const row = sessionRow({
      title: "NUL \u0000 and 🌲",
      agent: sessionAgent({ system: "long ".repeat(20_000) }),
      budget: { type: "limit", max_list_cost: { amount: "2500", currency: "USD" } },
      waitingFor: [{ event_id: "sevt_1", type: "custom_tool_result", name: "ask" }],
    });
    const input = [sent("one"), sent("two")];
    await stage.store.sessions.create(row, input);
    expect(await stage.other.sessions.get(row.id)).toEqual(row);
    expect(await stage.store.inputQueue.list(row.id)).toEqual(input);
    const { multiagent: _, ...agent } = row.agent;
    expect(await stage.store.sessions.threads(row.id)).toEqual([
      threadRow(row, { id: row.primaryThread, parent: null, agent, status: "idle", usage: row.usage }),
    ]);
    expect(await stage.store.sessions.get(newId("session"))).toBeUndefined();
  }),

  "Creating an existing id is a conflict and writes nothing": async (stage) => {
    const { row } = await stage.session();
    const again = stage.store.sessions.create({ ...row, title: "other" }, [sent("late")]);
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    expect(await stage.store.sessions.get(row.id)).toEqual(row);
    expect(await stage.store.inputQueue.list(row.id)).toEqual([]);
  },

  "Pages go in both directions to exact ends, and stay stable while rows change": async (stage) => {
    const { rows, agentId } = await series(stage, [1, 2, 3, 4, 5, 6, 7]);
    const page = async (query: Partial<PageQuery>) => {
      const found = await stage.store.sessions.list({ limit: 3, agentId, ...query });
      return { ...found, days: found.data.map(({ createdAt }) => new Date(createdAt).getUTCDate()) };
    };
    const first = await page({});
    expect([first.days, first.previous]).toEqual([[7, 6, 5], null]);
    const second = await page({ cursor: first.next! });
    expect(second.days).toEqual([4, 3, 2]);
    // Add one at the front, add one within the page already read, and delete one.
    const agent = sessionAgent({ id: agentId });
    await stage.store.sessions.create(sessionRow({ agent, createdAt: day(9) }), []);
    await stage.store.sessions.create(
      sessionRow({ agent, createdAt: new Date(Date.UTC(2025, 5, 3, 12)).toISOString() }),
      [],
    );
    const lease = (await stage.store.leases.take(rows[4]!.id, "me", 60_000))!;
    await stage.store.sessions.delete(lease);
    const third = await page({ cursor: second.next! });
    expect([third.days, third.next]).toEqual([[1], null]);
    const back = await page({ cursor: third.previous! });
    expect(back.days).toEqual([3, 3, 2]);
    const front = await page({ cursor: back.previous! });
    expect(front.days).toEqual([7, 6, 4]);
    expect((await page({ cursor: front.previous! })).days).toEqual([9]);
    expect((await page({ cursor: front.previous! })).previous).toBeNull();
    expect((await page({ cursor: front.next! })).days).toEqual([3, 3, 2]);

    const up = await page({ order: "asc", limit: 2 });
    expect(up.days).toEqual([1, 2]);
    expect((await page({ cursor: up.next!, limit: 100 })).days).toEqual([3, 3, 4, 6, 7, 9]);
    // Equal creation times sort by the bytes of the ids, whatever the collation.
    const twins = newId("agent");
    for (const id of ["sesn_b1", "sesn_A2", "sesn_a3", "sesn_B4"]) {
      const row = sessionRow({ id: id as SessionRow["id"], agent: sessionAgent({ id: twins }), createdAt: day(1) });
      await stage.store.sessions.create(row, []);
    }
    const ids: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const one = await stage.store.sessions.list({
        limit: 1,
        agentId: twins,
        order: "asc",
        cursor: cursor ?? undefined,
      });
      ids.push(...one.data.map(({ id }) => id));
      cursor = one.next;
    }
    expect(ids).toEqual(["sesn_A2", "sesn_B4", "sesn_a3", "sesn_b1"]);
    // After the rest of the list is deleted, going back from the empty page leads to the cursor's row.
    const last = await page({ limit: 7 });
    await stage.store.sessions.delete((await stage.store.leases.take(rows[0]!.id, "me", 60_000))!);
    const empty = await page({ cursor: last.next! });
    expect([empty.days, empty.next]).toEqual([[], null]);
    expect((await page({ cursor: empty.previous! })).days).toEqual([3, 3, 2]);
  },

  "Lists are filtered by archive, agent, version, status and creation time": async (stage) => {
    const agentId = newId("agent");
    const make = async (fields: Partial<SessionRow>, version = 1): Promise<string> => {
      const row = sessionRow({ agent: sessionAgent({ id: agentId, version }), ...fields });
      await stage.store.sessions.create(row, []);
      return row.id;
    };
    const idle = await make({ createdAt: day(1) });
    const running = await make({ createdAt: day(2), status: "running" }, 2);
    const archived = await make({ createdAt: day(3), archivedAt: day(4) });
    const list = async (query: object): Promise<string[]> =>
      (await stage.store.sessions.list({ limit: 10, agentId, ...query })).data.map(({ id }) => id);
    expect(await list({})).toEqual([running, idle]);
    expect(await list({ includeArchived: true })).toEqual([archived, running, idle]);
    expect(await list({ agentVersion: 2 })).toEqual([running]);
    expect(await list({ statuses: ["idle", "terminated"] })).toEqual([idle]);
    expect(await list({ statuses: [] })).toEqual([]);
    expect(await list({ created: { gt: day(1) } })).toEqual([running]);
    expect(await list({ created: { gte: "2025-06-01T02:00:00+02:00", lt: day(2) } })).toEqual([idle]);
    expect(await list({ agentId: newId("agent") })).toEqual([]);
  },

  "A foreign cursor is rejected with a fix": async (stage) => {
    const { agentId } = await series(stage, [1, 2]);
    const list = (cursor: string, order?: "asc") => stage.store.sessions.list({ limit: 1, agentId, cursor, order });
    const { next } = await stage.store.sessions.list({ limit: 1, agentId });
    const foreign = Buffer.from(
      JSON.stringify({ v: 1, list: "agents", order: "desc", towards: "next", at: 1, id: "a", with: false }),
    );
    const stale = Buffer.from(JSON.stringify({ v: 0, at: 1 }));
    // Values that do not fit into an integer column.
    const bent = [1.5, 1e300].map((at) =>
      Buffer.from(JSON.stringify({ ...(JSON.parse(Buffer.from(next!, "base64url").toString()) as object), at })),
    );
    const made = [foreign, stale, ...bent].map((bytes) => bytes.toString("base64url"));
    for (const cursor of ["", "nonsense", next!.slice(1), ...made]) {
      await expect(list(cursor)).rejects.toMatchObject({
        code: "invalid_request",
        fix: expect.stringContaining("without a cursor"),
      });
    }
    await expect(list(next!, "asc")).rejects.toMatchObject({ code: "invalid_request" });
    await expect(stage.store.agents.list({ limit: 1, cursor: next! })).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect((await list(next!)).data).toHaveLength(1);
  },

  "A session's place can be changed, and waiting sessions are listed": async (stage) => {
    const { row, ...lease } = await stage.session({ place: "any" });
    const agentId = row.agent.id;
    const read = () => stage.other.sessions.get(row.id);
    const waiting = async () =>
      (await stage.other.sessions.list({ limit: 100, agentId, waiting: true })).data.map(({ id }) => id);
    expect(await read()).toMatchObject({ place: "any" });
    expect(await waiting()).not.toContain(row.id);
    const asks = { event_id: "sevt_1", type: "tool_confirmation", name: "Bash" } as const;
    await stage.store.events.append(lease, [], { session: { place: "machine:b", waitingFor: [asks] } });
    expect(await read()).toMatchObject({ place: "machine:b", waitingFor: [asks] });
    expect(await waiting()).toContain(row.id);
    await stage.store.events.append(lease, [], { session: { title: "Other" } });
    expect(await read()).toMatchObject({ place: "machine:b", title: "Other" });
    expect(await waiting()).toContain(row.id);
    await stage.store.events.append(lease, [], { session: { place: null, waitingFor: [] } });
    expect(await read()).toMatchObject({ place: null, waitingFor: [] });
    expect(await waiting()).not.toContain(row.id);
    // Waiting from creation, as an imported session may be.
    const asking = await stage.session({ waitingFor: [asks] });
    expect(await waiting()).toContain(asking.session);
  },

  "Lists the sessions of a deployment": async (stage) => {
    const deploymentId = `depl_${newId("session")}`;
    const made = [await stage.session({ deploymentId }), await stage.session({ deploymentId })];
    const other = await stage.session();
    const found = await stage.other.sessions.list({ limit: 10, deploymentId });
    expect(found.data.map(({ id }) => id).toSorted()).toEqual(made.map(({ session }) => session).toSorted());
    expect(found.data[0]).toMatchObject({ deploymentId });
    expect(await stage.other.sessions.get(other.session)).not.toHaveProperty("deploymentId");
  },

  "Deleting a session removes all its data and touches no other session": async (stage) => {
    const { row, ...lease } = await stage.session({}, [sent("wait")]);
    const survivor = await stage.session();
    for (const { session, token } of [lease, survivor]) {
      const mark = { thread: null, event: { ...sent(`of ${session}`), processed_at: day(1) } };
      await stage.store.events.append({ session, token }, [mark], { threads: [threadRow({ ...row, id: session })] });
      await stage.store.transcripts.append({ session, token }, "main", [{ uuid: session, text: `of ${session}` }]);
      const content = Buffer.from(`of ${session}`);
      await stage.store.files.create(file(content.length, { scope: { type: "session", id: session } }), content);
      await stage.store.inputQueue.put(session, [sent(`of ${session}`)]);
    }
    const before = await stage.fixture.dump(stage.location);
    expect(before.split(lease.session).length).toBeGreaterThan(8);
    await stage.store.sessions.delete(lease);
    const after = await stage.fixture.dump(stage.location);
    expect(after).not.toContain(lease.session);
    expect(after.split(survivor.session)).toHaveLength(before.split(survivor.session).length);
    expect(await stage.store.sessions.get(lease.session)).toBeUndefined();
    await expect(stage.appendEach(lease, ["late"])).rejects.toBeInstanceOf(LeaseLost);
    await expect(stage.store.inputQueue.put(lease.session, [sent("late")])).rejects.toMatchObject({
      code: "not_found",
    });
  },

  "Only the lease holder can delete a session": async (stage) => {
    const { row } = await stage.session();
    await expect(stage.store.sessions.delete({ session: row.id, token: 7 })).rejects.toBeInstanceOf(LeaseLost);
    expect(await stage.store.sessions.get(row.id)).toEqual(row);
  },

  "Usage is summed by day and agent": async (stage) => {
    const ids = [newId("agent"), newId("agent")].sort();
    const at = (hour: number): string => new Date(Date.UTC(2024, 1, 1, hour)).toISOString();
    const add = (agent: number, hour: number, cents: number) =>
      stage.store.sessions.create(
        sessionRow({ agent: sessionAgent({ id: ids[agent] }), updatedAt: at(hour), usage: usage(cents) }),
        [],
      );
    await Promise.all([add(0, 1, 150), add(0, 23, 50), add(1, 2, 7), add(0, 24, 1), add(0, 48, 999)]);
    expect(await stage.store.sessions.usage({ from: at(0), to: at(48) })).toEqual([
      { day: "2024-02-01", agentId: ids[0], usd: 2, sessions: 2 },
      { day: "2024-02-01", agentId: ids[1], usd: 0.07, sessions: 1 },
      { day: "2024-02-02", agentId: ids[0], usd: 0.01, sessions: 1 },
    ]);
    expect(numbers(0)).toEqual([]);
    const small = newId("agent");
    const row = sessionRow({ agent: sessionAgent({ id: small }), updatedAt: at(1), usage: usage(0), microUsd: 1_234 });
    await stage.store.sessions.create(row, []);
    expect(await stage.store.sessions.usage({ from: at(0), to: at(24) })).toContainEqual(
      expect.objectContaining({ agentId: small, usd: 0.001_234 }),
    );
  },
};
