import { newId, type SessionId } from "@tandem/protocol";
import { expect } from "vitest";
import { sent } from "./samples.ts";
import { numbers, until, type Behaviours } from "./storage-stage.ts";

const taken = (event: ReturnType<typeof sent>) => ({
  thread: null,
  event: { ...event, processed_at: new Date().toISOString() },
});

export const verifyInputQueue: Behaviours = {
  "Waiting input is listed in order of arrival, together with its sessions": async (stage) => {
    const { session } = await stage.session();
    expect(await stage.store.inputQueue.list(session)).toEqual([]);
    expect(await stage.store.inputQueue.sessions()).not.toContain(session);
    const events = numbers(6).map((number) => sent(`${number}`));
    await stage.store.inputQueue.put(session, events.slice(0, 2));
    await stage.other.inputQueue.put(session, events.slice(2, 4));
    await stage.store.inputQueue.put(session, events.slice(4));
    expect(await stage.other.inputQueue.list(session)).toEqual(events);
    expect(await stage.store.inputQueue.sessions()).toContain(session);
  },

  "A put is atomic, and rejected for an unknown session": async (stage) => {
    const { session } = await stage.session();
    const first = sent("first");
    await stage.store.inputQueue.put(session, [first]);
    await expect(stage.store.inputQueue.put(session, [sent("a"), first])).rejects.toMatchObject({ code: "conflict" });
    expect(await stage.store.inputQueue.list(session)).toEqual([first]);
    await expect(stage.store.inputQueue.put(newId("session"), [sent("a")])).rejects.toMatchObject({
      code: "not_found",
    });
  },

  "Of two puts after the same position, one is refused": async (stage) => {
    const { session } = await stage.session();
    const after = await stage.store.inputQueue.position(session);
    const both = [sent("a"), sent("b")].map((event, index) =>
      (index === 0 ? stage.store : stage.other).inputQueue.put(session, [event], { after }),
    );
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
    expect(await stage.other.inputQueue.list(session)).toHaveLength(1);
    expect(await stage.other.inputQueue.position(session)).toBe(after + 1);
  },

  "An append removes the queued input that it consumes only if it succeeds": async (stage) => {
    const { session, ...lease } = await stage.session();
    const [a, b] = [sent("a"), sent("b")];
    await stage.store.inputQueue.put(session, [a, b]);
    const append: typeof stage.store.events.append = (...args) => stage.store.events.append(...args);
    await expect(append({ session, token: 99 }, [taken(a)], { taken: [a.id] })).rejects.toMatchObject({
      code: "lease_lost",
    });
    expect(await stage.store.inputQueue.list(session)).toEqual([a, b]);
    await append({ session, token: lease.token }, [taken(a)], { taken: [a.id] });
    expect(await stage.store.inputQueue.list(session)).toEqual([b]);
    expect((await stage.store.events.read(session, { limit: 5 })).map(({ event }) => event.id)).toEqual([a.id]);
    await expect(stage.store.inputQueue.put(session, [sent("c"), a])).rejects.toMatchObject({ code: "conflict" });
    expect(await stage.store.inputQueue.list(session)).toEqual([b]);
    await append({ session, token: lease.token }, [taken(b)], { taken: [b.id] });
    expect(await stage.store.inputQueue.sessions()).not.toContain(session);
  },

  "Listeners are called for each put of this and other processes": async (stage) => {
    const { session } = await stage.session();
    const here: SessionId[] = [];
    const elsewhere: SessionId[] = [];
    const stop = [
      stage.store.inputQueue.onPut((id) => here.push(id)),
      stage.other.inputQueue.onPut((id) => elsewhere.push(id)),
    ];
    await stage.store.inputQueue.put(session, [sent("a")]);
    expect(here).toContain(session);
    await until(() => (elsewhere.includes(session) ? true : undefined));
    const begun = await stage.session({}, [sent("first")]);
    expect(here).toContain(begun.session);
    await until(() => (elsewhere.includes(begun.session) ? true : undefined));
    for (const each of stop) each();
    here.length = 0;
    await stage.store.inputQueue.put(session, [sent("b")]);
    expect(here).toEqual([]);
  },
};
