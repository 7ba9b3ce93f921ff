import { reply, text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { startEmulator } from "../start-emulator.ts";
import { emulatedSession } from "../testing/emulated-session.ts";
import { replayCassette } from "./replay-cassette.ts";
import { exported } from "./testing/recorded-sessions.ts";

const TIMES = 100;

test(`a session of Claude Code replays identically ${TIMES} times`, async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [
      reply([toolUse("Bash", { command: "echo one; sleep 0.2" }), toolUse("Read", { file_path: "nowhere.txt" })]),
      text("Done."),
    ],
  });
  const session = await emulatedSession(emulator);
  await session.turn("Look around.");
  const cassette = await exported(emulator, session.id);
  const different: unknown[] = [];
  for (let time = 0; time < TIMES; time += 1) different.push((await replayCassette(cassette)).divergence);
  expect(different.filter((divergence) => divergence !== undefined)).toEqual([]);
});

test("with real tools, a file with other content is shown as a diff of the folder", async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [toolUse("Bash", { command: "echo a > same.txt; date +%s%N > stamp.txt" }), text("Done.")],
  });
  const session = await emulatedSession(emulator);
  await session.turn("Write.");
  const cassette = await exported(emulator, session.id);
  const { divergence } = await replayCassette(cassette, { mode: "real_tools" });
  expect(divergence).toMatchObject({ step: cassette.steps.length + 1, kind: "folder" });
  expect(divergence?.diff.join("\n")).toMatch(/--- a\/stamp\.txt\n\+\+\+ b\/stamp\.txt\n@@ -1 \+1 @@\n-\d+\n\+\d+/);
});
