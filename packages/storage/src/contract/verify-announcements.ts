import { newId, type Announcement, type SessionEvent } from "@tandem/protocol";
import { expect } from "vitest";
import { DUE, FIRST_DUE, WANTED, WEBHOOKS } from "../announcements.ts";
import { LeaseLost } from "../lease-lost.ts";
import { agent, environment, threadRow } from "./samples.ts";
import type { Behaviours, Stage } from "./storage-stage.ts";

const ENDPOINT = "whep_1";

async function want(stage: Stage, types: readonly string[], kind: "put" | "delete" = "put"): Promise<void> {
  await stage.store.records.write(
    WEBHOOKS,
    types.map((type) => {
      const change = { kind: WANTED, key: `${type}/${ENDPOINT}` };
      return kind === "put" ? { type: kind, ...change, value: null } : { type: kind, ...change };
    }),
  );
}

/** The announcements to deliver, sorted by type. They are deleted. */
async function take(stage: Stage): Promise<Announcement[]> {
  const due = await stage.other.records.list(WEBHOOKS, DUE, { limit: 100 });
  for (const { key } of due) expect(key).toMatch(new RegExp(`^${ENDPOINT}/${FIRST_DUE}/whe_`));
  await stage.store.records.write(
    WEBHOOKS,
    due.map(({ key }) => ({ type: "delete", kind: DUE, key })),
  );
  return due
    .map(({ value }) => (value as { announcement: Announcement }).announcement)
    .toSorted((a, b) => a.type.localeCompare(b.type));
}

const stored = (body: object): SessionEvent =>
  ({ ...body, id: newId("event"), processed_at: new Date().toISOString() }) as SessionEvent;
const idle = (reason: object) => stored({ type: "session.status_idle", stop_reason: reason, stop_details: null });

export const verifyAnnouncements: Behaviours = {
  "A change and its announcements are one commit; nothing is written unless an endpoint wants the type": async (
    stage,
  ) => {
    const { store } = stage;
    const lease = await stage.session();
    const append = (event: SessionEvent, with_ = {}) => store.events.append(lease, [{ thread: null, event }], with_);
    await append(idle({ type: "end_turn" }));
    await store.announcements.add([{ type: "deployment.paused", id: "depl_1" }]);
    expect(await take(stage)).toEqual([]);

    const types = ["session.idled", "session.requires_action", "session.archived", "session.deleted"];
    const others = ["session.created", "session.thread_idled", "deployment.paused", "agent.updated"];
    const environments = ["environment.updated", "environment.archived", "environment.deleted"];
    const wanted = [...types, ...others, ...environments];
    await want(stage, wanted);
    let heard = 0;
    const stop = store.announcements.onAdded(() => (heard += 1));
    const { session } = lease;

    const end = idle({ type: "end_turn" });
    await append(end);
    // The same append again, as after a lost response.
    await append(end);
    expect(await take(stage)).toEqual([{ type: "session.idled", id: session, event_id: end.id }]);
    expect(heard).toBe(1);

    const asks = idle({ type: "requires_action", event_ids: [] });
    const thread = threadRow(lease.row);
    const at = {
      session_thread_id: thread.id,
      agent_name: "Sample",
      stop_reason: { type: "end_turn" },
      stop_details: null,
    };
    await append(asks);
    await append(stored({ type: "session.thread_status_idle", ...at }), { session: { archivedAt: end.processed_at } });
    expect(await take(stage)).toMatchObject([
      { type: "session.archived", id: session },
      { type: "session.idled" },
      { type: "session.requires_action" },
      { type: "session.thread_idled", id: session, session_thread_id: thread.id },
    ]);

    // A refused change announces nothing.
    await expect(
      store.events.append({ ...lease, token: lease.token - 1 }, [{ thread: null, event: idle({ type: "end_turn" }) }]),
    ).rejects.toThrow(LeaseLost);
    const put = { type: "put" as const, kind: "deployment", key: "depl_1", value: 1, version: 7 };
    const paused = { announce: [{ type: "deployment.paused" as const, id: "depl_1" }] };
    await expect(store.records.write("deployments", [put], paused)).rejects.toMatchObject({ code: "conflict" });
    expect(await take(stage)).toEqual([]);
    await store.records.write("deployments", [{ ...put, version: 0 }], paused);
    expect(await take(stage)).toEqual(paused.announce);

    const sample = agent();
    const id = newId("environment");
    const place = environment({ id });
    await store.agents.create(sample);
    await store.agents.addVersion({ ...sample, version: sample.version + 1 });
    await store.environments.create(place);
    await store.environments.update(place);
    await store.environments.update({ ...place, archived_at: sample.created_at });
    await store.environments.delete(id);
    await store.environments.delete(id);
    await store.sessions.delete(lease);
    const created = await stage.session();
    expect(await take(stage)).toEqual([
      { type: "agent.updated", id: sample.id },
      { type: "environment.archived", id: place.id },
      { type: "environment.deleted", id: place.id },
      { type: "environment.updated", id: place.id },
      { type: "session.created", id: created.session },
      { type: "session.deleted", id: session },
    ]);
    stop();
    await want(stage, wanted, "delete");
    await store.deleteSpace("deployments");
  },
};
