import { newId, type SessionId } from "@tandem/protocol";
import { expect } from "vitest";
import type { BehaviourId } from "./behaviours.ts";
import { sent } from "./samples.ts";
import { numbers, until, type Verify } from "./stage.ts";

const taken = (event: ReturnType<typeof sent>) => ({
  thread: null,
  event: { ...event, processed_at: new Date().toISOString() },
});

export const verifyInbox: Record<Extract<BehaviourId, `inbox.${string}`>, Verify> = {
  "inbox.order": async (stage) => {
    const { session } = await stage.session();
    expect(await stage.store.inbox.list(session)).toEqual([]);
    expect(await stage.store.inbox.sessions()).not.toContain(session);
    const events = numbers(6).map((number) => sent(`${number}`));
    expect(await stage.store.inbox.put(session, events.slice(0, 2))).toEqual(events.slice(0, 2));
    await stage.other.inbox.put(session, events.slice(2, 4));
    await stage.store.inbox.put(session, events.slice(4));
    expect(await stage.other.inbox.list(session)).toEqual(events);
    expect(await stage.store.inbox.sessions()).toContain(session);
  },

  "inbox.none-or-all": async (stage) => {
    const { session } = await stage.session();
    const first = sent("first");
    await stage.store.inbox.put(session, [first]);
    await expect(stage.store.inbox.put(session, [sent("a"), first])).rejects.toMatchObject({ code: "conflict" });
    expect(await stage.store.inbox.list(session)).toEqual([first]);
    await expect(stage.store.inbox.put(newId("session"), [sent("a")])).rejects.toMatchObject({ code: "not_found" });
  },

  "inbox.taken": async (stage) => {
    const { session, ...lease } = await stage.session();
    const [a, b] = await stage.store.inbox.put(session, [sent("a"), sent("b")]);
    const append: typeof stage.store.events.append = (...args) => stage.store.events.append(...args);
    await expect(append({ session, token: 99 }, [taken(a!)], { taken: [a!.id] })).rejects.toMatchObject({
      code: "lease_lost",
    });
    expect(await stage.store.inbox.list(session)).toEqual([a, b]);
    await append({ session, token: lease.token }, [taken(a!)], { taken: [a!.id] });
    expect(await stage.store.inbox.list(session)).toEqual([b]);
    expect((await stage.store.events.read(session, { limit: 5 })).map(({ event }) => event.id)).toEqual([a!.id]);
    await append({ session, token: lease.token }, [taken(b!)], { taken: [b!.id] });
    expect(await stage.store.inbox.sessions()).not.toContain(session);
  },

  "inbox.dedupe": async (stage) => {
    const { session, token } = await stage.session();
    const once = [sent("a"), sent("b")];
    const again = (): ReturnType<typeof sent>[] => [sent("a"), sent("b")];
    expect(await stage.store.inbox.put(session, once, "key")).toEqual(once);
    expect(await stage.other.inbox.put(session, again(), "key")).toEqual(once);
    expect(await stage.store.inbox.list(session)).toEqual(once);
    await stage.store.events.append({ session, token }, once.map(taken), { taken: once.map(({ id }) => id) });
    expect(await stage.store.inbox.put(session, again(), "key")).toEqual(once);
    expect(await stage.store.inbox.list(session)).toEqual([]);
    expect(await stage.store.inbox.sessions()).not.toContain(session);
    // Another key, and the same one of another session, are something else.
    await stage.store.inbox.put(session, again(), "other key");
    expect(await stage.store.inbox.list(session)).toHaveLength(2);
    const elsewhere = await stage.session();
    await stage.store.inbox.put(elsewhere.session, again(), "key");
    expect(await stage.store.inbox.list(elsewhere.session)).toHaveLength(2);
    // An hour later, nobody remembers.
    await stage.fixture.execute(
      stage.location,
      `update inbox set put_at = put_at - 3600001 where session = '${session}'`,
    );
    const fresh = [sent("c")];
    expect(await stage.store.inbox.put(session, fresh, "key")).toEqual(fresh);
    expect(await stage.fixture.dump(stage.location)).not.toContain(
      `"text":"a"}],"id":"${once[0]!.id}","processed_at":null`,
    );
  },

  "inbox.dedupe-race": async (stage) => {
    const { session } = await stage.session();
    const answers = await Promise.all(
      numbers(10).map((number) => (number % 2 ? stage.store : stage.other).inbox.put(session, [sent("a")], "key")),
    );
    const stored = await stage.store.inbox.list(session);
    expect(stored).toHaveLength(1);
    for (const answer of answers) expect(answer).toEqual(stored);
  },

  "inbox.on-put": async (stage) => {
    const { session } = await stage.session();
    const here: SessionId[] = [];
    const elsewhere: SessionId[] = [];
    const stop = [stage.store.inbox.onPut((id) => here.push(id)), stage.other.inbox.onPut((id) => elsewhere.push(id))];
    await stage.store.inbox.put(session, [sent("a")]);
    expect(here).toContain(session);
    await until(() => (elsewhere.includes(session) ? true : undefined));
    const begun = await stage.session({}, [sent("first")]);
    expect(here).toContain(begun.session);
    await until(() => (elsewhere.includes(begun.session) ? true : undefined));
    for (const each of stop) each();
    here.length = 0;
    await stage.store.inbox.put(session, [sent("b")]);
    expect(here).toEqual([]);
  },
};
