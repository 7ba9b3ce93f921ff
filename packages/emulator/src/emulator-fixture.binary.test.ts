import { text } from "@tandem/rehearsal";
import { expect, test as base } from "vitest";
import { emulatorFixture, useEmulator } from "./emulator-fixture.ts";
import { emulatedSession, textsOf } from "./testing/emulated-session.ts";

const test = base.extend({ emulator: emulatorFixture({ script: [text("From the fixture.")] }) });

test("vitest gives each test an emulator", async ({ emulator }) => {
  const { turn } = await emulatedSession(emulator);
  // The linter does not know extended tests.
  // oxlint-disable-next-line vitest/no-standalone-expect
  expect(textsOf(await turn("Begin."))).toEqual(["From the fixture."]);
});

base("an emulator of node:test ends with its test", async () => {
  const ends: (() => Promise<void>)[] = [];
  const emulator = await useEmulator({ after: (end) => void ends.push(end) }, { script: [text("Hello.")] });
  const { turn } = await emulatedSession(emulator);
  expect(textsOf(await turn("Begin."))).toEqual(["Hello."]);
  for (const end of ends) await end();
  await expect(fetch(emulator.url)).rejects.toThrow("fetch failed");
});
