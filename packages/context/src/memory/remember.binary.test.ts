import type { CapturedText } from "@tandem/protocol";
import { always, object, unauthorized } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import type { RehearsedBackend } from "../scan/testing/rehearsed-backend.ts";
import { sharedStore } from "../testing/shared-store.ts";
import { contradictionsOf } from "./memories.ts";
import { isExpired } from "../formats/memory-file.ts";
import { forget, keep, remember, type Words } from "./remember.ts";
import { openMemoryStage } from "./testing/memory-stage.ts";
import { sharedBackend } from "../scan/testing/shared-backend.ts";

const backend = await sharedBackend();
const store = sharedStore();
const openStage = (model?: RehearsedBackend, accept?: object) => openMemoryStage(model, accept, store());

const words = (text: string, more: Partial<Words> = {}): Words => ({
  text,
  scope: "project",
  expiresAt: null,
  by: "ada",
  ...more,
});

describe("a person's own statement", () => {
  test("is stored at once, as a revertible commit, and found", async () => {
    await using stage = await openStage();
    const { memory, proposal } = await remember(
      stage.context,
      words("Weeks begin on Sundays.", { tags: ["calendar"] }),
    );
    expect(proposal).toMatchObject({ state: "accepted", quarantine: null, commits: [expect.any(String)] });
    expect(await stage.memories.own()).toMatchObject([
      {
        id: memory.id,
        text: "Weeks begin on Sundays.",
        tags: ["calendar"],
        expiresAt: null,
        sources: [{ type: "person", name: "ada" }],
      },
    ]);
    expect(await stage.context.search.search({ text: "Sundays", limit: 5 })).toMatchObject([
      { key: `memory:${memory.id}` },
    ]);
    // These lines belong to a person: no rule may replace them.
    const hand = await stage.context.folder.handLines([`memory/${memory.id}.md`]);
    expect(hand.get(`memory/${memory.id}.md`)?.size).toBeGreaterThan(5);
    await stage.context.proposals.undo(proposal!.id, "ada");
    expect(await stage.statements()).toEqual([]);
    await remember(stage.context, words("Weeks begin on Sundays."));
    expect(await stage.statements()).toEqual(["Weeks begin on Sundays."]);
  });

  test("is stored once per scope", async () => {
    await using stage = await openStage();
    const first = await remember(stage.context, words("Weeks begin on Sundays."));
    const again = await remember(stage.context, words("  weeks begin  on Sundays"));
    expect(again).toMatchObject({ memory: { id: first.memory.id } });
    expect(again.proposal).toBeUndefined();
    await remember(stage.context, words("Weeks begin on Sundays.", { scope: "agent", agent: "analyst" }));
    expect(await stage.statements()).toHaveLength(2);
  });

  test.each([
    ["nothing", words("  "), "nothing to remember"],
    ["a whole document", words("x".repeat(5_000)), "at most 4000 characters"],
    ["for an agent without a name", words("Fine.", { scope: "agent" }), "none is named"],
  ])("%s is rejected", async (_, given, message) => {
    await using stage = await openStage();
    await expect(remember(stage.context, given)).rejects.toThrow(message);
  });

  test("expires, and comes back when repeated", async () => {
    await using stage = await openStage();
    const soon = new Date(Date.now() + 60_000);
    const { memory } = await remember(stage.context, words("The fair is on.", { expiresAt: soon.toISOString() }));
    expect(isExpired(memory, new Date(soon.getTime() - 1))).toBe(false);
    expect(isExpired(memory, soon)).toBe(true);
    await remember(stage.context, words("The fair is on."), { now: () => new Date(soon.getTime() + 1) });
    expect(await stage.memories.own()).toMatchObject([{ id: memory.id, expiresAt: null }]);
  });

  test("can be forgotten and extended by a person, also after an undo", async () => {
    await using stage = await openStage();
    const { memory } = await remember(stage.context, words("Weeks begin on Sundays."));
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await keep(stage.context, memory.id, { by: "ada", expiresAt: until });
    expect(await stage.memories.own()).toMatchObject([{ expiresAt: until, text: "Weeks begin on Sundays." }]);
    expect(await keep(stage.context, memory.id, { by: "ada", expiresAt: until })).toBeUndefined();
    for (let round = 0; round < 2; round += 1) {
      const gone = await forget(stage.context, memory.id, "ada");
      expect(await stage.statements()).toEqual([]);
      await stage.context.proposals.undo(gone.id, "ada");
      expect(await stage.statements()).toEqual(["Weeks begin on Sundays."]);
    }
    await expect(forget(stage.context, "mem_none", "ada")).rejects.toThrow("There is no memory mem_none.");
  });
});

describe("contradictions", () => {
  test("are found by a model, linked in both directions, and unlinked when one is forgotten", async () => {
    await using stage = await openStage(backend);
    const { memory: old } = await remember(stage.context, words("Refunds take 30 days."));
    const openModel = async () => backend.play([object({ contradicts: [{ id: "m1", why: "Another time." }] })]);
    const { memory, contradicts, unchecked } = await remember(stage.context, words("Refunds take 14 days."), {
      openModel,
    });
    expect({ contradicts: contradicts.map(({ id }) => id), unchecked }).toEqual({
      contradicts: [old.id],
      unchecked: undefined,
    });
    expect(backend.rehearsal.modelRequests).toHaveLength(1);
    expect(backend.reports).toMatchObject([{ role: "candidateExtraction" }]);
    const all = await stage.memories.own();
    expect(all.map(({ contradicts: links }) => links)).toEqual([[memory.id], [old.id]]);
    expect(contradictionsOf(all[0]!, all)).toMatchObject([{ id: memory.id }]);
    await forget(stage.context, old.id, "ada");
    expect(await stage.memories.own()).toMatchObject([{ id: memory.id, contradicts: [] }]);
  });

  test("need similar memories; a failure loses nothing", async () => {
    await using stage = await openStage(backend);
    const never = async () => {
      throw new Error("No model is needed for this.");
    };
    await remember(stage.context, words("Refunds take 30 days."), { openModel: never });
    const without = await remember(stage.context, words("Refunds are slow."));
    expect(without.unchecked).toBe("no model is set up");
    const openModel = async () => backend.play([always(unauthorized())]);
    const { unchecked } = await remember(stage.context, words("Refunds take 14 days."), { openModel });
    expect(unchecked).toBeTruthy();
    expect(await stage.statements()).toHaveLength(3);
  });
});

describe("an agent's statement", () => {
  test("is quarantined whatever the rules, with its contradictions, once", async () => {
    await using stage = await openStage(backend, { memory: "always" });
    const { memory } = await remember(stage.context, words("Refunds take 30 days."));
    const params = { text: "Refunds take 14 days.", scope: "project", by: "claude-code" };
    const row = await stage.run(params, {
      capture: "off",
      script: [object({ contradicts: [{ id: "m1", why: "x" }] })],
    });
    expect(row).toMatchObject({ state: "done", result: { contradicts: [memory.id] }, requests: 1 });
    const [id] = (row.result as CapturedText).proposals;
    expect(await stage.context.proposals.get(id!)).toMatchObject({
      state: "open",
      quarantine: "It is an agent's word.",
      decisions: [{ kind: "contradiction" }],
      changes: [{ evidence: [{ type: "agent", name: "claude-code" }] }, {}],
    });
    expect(await stage.statements()).toEqual(["Refunds take 30 days."]);
    expect(await stage.run(params)).toMatchObject({
      state: "done",
      result: { before: id, proposals: [] },
      requests: 0,
    });
    const known = await stage.run({ ...params, text: "refunds take 30 days" });
    expect(known).toMatchObject({ result: { known: memory.id, proposals: [] }, requests: 0 });
  });

  test("survives a model failure: the job fails, and the proposal waits", async () => {
    await using stage = await openStage(backend);
    await remember(stage.context, words("Refunds take 30 days."));
    const row = await stage.run(
      { text: "Refunds take 14 days.", scope: "user", by: "cursor" },
      { script: [always(unauthorized())] },
    );
    expect(row.state).toBe("partly");
    expect(row.result).toMatchObject({ proposals: [expect.any(String)], unchecked: expect.any(String) });
  });
});
