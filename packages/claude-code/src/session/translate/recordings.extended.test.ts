import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { setStage } from "../../testing/claude-stage.ts";
import type { ConversationOutput } from "../conversation.ts";
import { record } from "../testing/record.ts";
import { readRecording, replay } from "../testing/replay.ts";
import { scenarios } from "../testing/scenarios.ts";

/**
 * Checks that the current Claude Code still produces the events of the recordings that the translator is tested with.
 * `TANDEM_RECORD=1` (or scenario names, separated by commas) records them again; then review the diff that `vitest -u`
 * makes in their readable form.
 */
const wanted = process.env["TANDEM_RECORD"];
const isWanted = (name: string): boolean => wanted === "1" || wanted?.split(",").includes(name) === true;
const FOLDER = join(import.meta.dirname, "recordings");

const stage = await setStage();
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Compares without order, because subagents and background tasks interleave freely. */
const happened = (outputs: readonly ConversationOutput[]): string[] =>
  outputs
    .flatMap((output) => {
      if (output.type === "turn_ended") return [`turn_ended ${output.outcome.stop}`];
      if (output.type !== "event") return [];
      return [`${output.thread === null ? "primary" : "subagent"} ${output.event.type}`];
    })
    .sort();

// Only another release of Claude Code changes these. `npm run sdk:next` and `npm run soak` record all of them.
const SAMPLED = 11;
const names = Object.keys(scenarios).filter((name, at) => inject("soak") || isWanted(name) || at % SAMPLED === 0);

test.each(names)("%s", async (name) => {
  const lines = await record(stage, scenarios[name]!);
  const file = join(FOLDER, `${name}.jsonl`);
  if (isWanted(name)) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, `${lines.join("\n")}\n`);
  }
  expect(stage.rehearsal.misses.map(({ message }) => message)).toEqual([]);
  expect(happened(replay(lines.map((line): unknown => JSON.parse(line))))).toEqual(
    happened(replay(readRecording(file))),
  );
});
