import { always, creditTooLow, text } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import type { RehearsedBackend } from "../scan/testing/rehearsed-backend.ts";
import { JobRunner } from "../runs/job-runner.ts";
import { MemoryCapture } from "./memory-capture.ts";
import { memoryKind } from "./memory-kind.ts";
import { type MemoryStage, openMemoryStage } from "./testing/memory-stage.ts";
import { sharedBackend } from "../scan/testing/shared-backend.ts";

const backend = await sharedBackend();

/** A capture with a job runner and a manual clock. */
function watch(
  stage: MemoryStage,
  capture: "on" | "off" = "on",
  isOurs: (session: { id: string }) => Promise<boolean> = async () => true,
) {
  const parts = stage.parts({ capture, after: 1_000_000 });
  const { store, context } = stage;
  const warnings: string[] = [];
  const log = { warn: (_: unknown, message: string) => warnings.push(message) };
  const runtime = backend.play([]);
  const llm = { backend: runtime.backend, open: async () => ({ ...backend.play(script), close: async () => {} }) };
  let script: Parameters<RehearsedBackend["play"]>[0] = [always(text("Nothing."))];
  const runner = new JobRunner({
    store,
    space: context.id,
    holder: "a test",
    kinds: { memory: memoryKind(parts) },
    log,
    models: { llm, modelOf: () => backend.model },
  });
  const time = { now: Date.now() };
  const captures = new MemoryCapture({
    store,
    space: context.id,
    settings: parts.settings,
    log,
    now: () => time.now,
    isOurs,
    begin: (params) => runner.start("memory", params),
  });
  return {
    captures,
    warnings,
    time,
    play: (next: typeof script) => (script = next),
    /** Sessions with started jobs, and their outcomes. */
    jobs: async () => {
      const { data } = await store.jobs.list({ limit: 50, space: context.id, order: "asc" });
      return data.map(({ params, state }) => [(params as { session: string }).session, state]);
    },
    async [Symbol.asyncDispose]() {
      await captures[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
    },
  };
}

test("reads an archived session at once, an idle one after a while, and each once", async () => {
  await using stage = await openMemoryStage(backend);
  const idle = await stage.session({ user: "Something." });
  const archived = await stage.session({ user: "Something else." });
  await stage.archive(archived.id);
  await using watched = watch(stage);
  await watched.captures.look();
  expect(await watched.jobs()).toEqual([[archived.id, "done"]]);
  watched.time.now += 1_100_000;
  await watched.captures.look();
  expect(await watched.jobs()).toEqual([
    [archived.id, "done"],
    [idle.id, "done"],
  ]);
  watched.time.now += 10_000_000;
  await watched.captures.look();
  expect(await watched.jobs()).toHaveLength(2);
});

test("notices events while it runs", async () => {
  await using stage = await openMemoryStage(backend);
  await using watched = watch(stage);
  watched.captures.start();
  await watched.captures.look();
  const { id } = await stage.session({ user: "Something." });
  await stage.archive(id);
  await expect.poll(() => watched.jobs()).toEqual([[id, "done"]]);
});

test("retries failures later, without blocking other sessions forever", async () => {
  await using stage = await openMemoryStage(backend);
  const first = await stage.session({ user: "Something." });
  const second = await stage.session({ user: "Something else." });
  await stage.archive(first.id);
  await stage.archive(second.id);
  await using watched = watch(stage);
  watched.play([always(creditTooLow())]);
  await watched.captures.look();
  const [[failing]] = (await watched.jobs()) as [[string, string]];
  expect(await watched.jobs()).toEqual([[failing, "failed"]]);
  // Not at once: every session would fail the same way.
  await watched.captures.look();
  expect(await watched.jobs()).toHaveLength(1);
  watched.play([always(text("Nothing."))]);
  watched.time.now += 61_000;
  await watched.captures.look();
  const other = failing === first.id ? second.id : first.id;
  expect(await watched.jobs()).toEqual([
    [failing, "failed"],
    [other, "done"],
    [failing, "done"],
  ]);
  expect(watched.warnings).toEqual(["a session could not be read for memories"]);
});

test("ignores sessions of other projects in the same store", async () => {
  await using stage = await openMemoryStage(backend);
  const theirs = await stage.session({ user: "Something of others." });
  const ours = await stage.session({ user: "Something of ours." });
  await stage.archive(theirs.id);
  await using watched = watch(stage, "on", async ({ id }) => id !== theirs.id);
  watched.captures.start();
  await stage.archive(ours.id);
  await expect.poll(() => watched.jobs()).toEqual([[ours.id, "done"]]);
  // Also for events while it listens.
  await stage.say(theirs.id, { user: "More of others." });
  watched.time.now += 1_100_000;
  await watched.captures.look();
  expect(await watched.jobs()).toHaveLength(1);
});

test("does nothing when it is off", async () => {
  await using stage = await openMemoryStage(backend);
  const { id } = await stage.session({ user: "Something." });
  await using watched = watch(stage, "off");
  watched.captures.start();
  await stage.archive(id);
  expect(await watched.jobs()).toEqual([]);
});
