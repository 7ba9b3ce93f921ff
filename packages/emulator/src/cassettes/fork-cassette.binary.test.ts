import type { Cassette } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { startEmulator } from "../start-emulator.ts";
import { emulatedSession } from "../testing/emulated-session.ts";
import { forkCassette } from "./fork-cassette.ts";
import { replayCassette } from "./replay-cassette.ts";
import { answeredTurn, ASKING, exported } from "./testing/recorded-sessions.ts";

async function recordedSession(): Promise<Cassette> {
  await using emulator = await startEmulator({
    script: [
      toolUse("Bash", { command: "one" }, { id: "toolu_1" }),
      toolUse("Bash", { command: "two" }, { id: "toolu_2" }),
      text("Both ran."),
    ],
    tools: { Bash: ({ command }) => `ran ${String(command)}` },
  });
  const session = await emulatedSession(emulator, ASKING);
  await answeredTurn(session, "Work.", ({ event }) => ({
    type: "user.tool_confirmation",
    tool_use_id: event,
    result: "allow",
  }));
  return await exported(emulator, session.id);
}

const results = ({ steps }: Cassette) =>
  steps.flatMap((step) => (step.kind === "call" ? [JSON.stringify(step.result?.content)] : []));

const answers = ({ steps }: Cassette) =>
  steps.flatMap((step) => (step.kind === "model" && step.answer?.type === "message" ? [step.answer.content] : []));

test("a fork changes one message, result or approval and continues with the recorded answers or a script", async () => {
  const cassette = await recordedSession();
  const stepOf = (isWanted: (step: Cassette["steps"][number]) => boolean) => cassette.steps.find(isWanted)!.step;
  const call = stepOf((step) => step.kind === "call" && step.id === "toolu_1");

  const other = await forkCassette(cassette, { step: call, result: "It failed." });
  expect(results(other)).toEqual([expect.stringContaining("It failed."), expect.stringContaining("ran two")]);
  expect(JSON.stringify(answers(other).at(-1))).toContain("Both ran.");
  // A fork is a cassette like any other.
  expect((await replayCassette(other)).divergence).toBeUndefined();

  const denied = await forkCassette(cassette, { step: call, approval: "deny" });
  expect(results(denied)[0]).not.toContain("ran one");
  expect(results(denied)[1]).toContain("ran two");

  const scripted = await forkCassette(
    cassette,
    { step: 1, prompt: "Write instead.", model: "claude-opus-5-5" },
    { script: [toolUse("TodoWrite", { todos: [] }), text("Another way.")] },
  );
  expect(JSON.stringify(scripted.steps[0])).toContain("Write instead.");
  expect(JSON.stringify(answers(scripted).at(-1))).toContain("Another way.");
  expect(JSON.stringify(scripted)).not.toContain("Both ran.");

  await expect(forkCassette(cassette, { step: call, prompt: "No." })).rejects.toMatchObject({
    message: `Step ${call} is not a message (call).`,
    fix: "Give one of the steps 1.",
  });
  await expect(forkCassette(cassette, { step: 99, prompt: "No." })).rejects.toMatchObject({ code: "usage" });
});

test("a fork with another rule replays identically, and a rule that changes earlier steps is refused", async () => {
  const cassette = await recordedSession();
  const stepOf = (id: string) => cassette.steps.find((step) => step.kind === "call" && step.id === id)!.step;
  const rule = { tool: "Bash", pattern: "two", action: "deny" as const };
  const denied = await forkCassette(cassette, { step: stepOf("toolu_2"), rule });
  expect(results(denied)[0]).toContain("ran one");
  expect(results(denied)[1]).not.toContain("ran two");
  expect(denied.header.rules).toEqual([{ ...rule, scope: "session", source: "fork" }]);
  expect((await replayCassette(denied)).divergence).toBeUndefined();

  const wide = { tool: "Bash", action: "deny" as const };
  await expect(forkCassette(cassette, { step: stepOf("toolu_2"), rule: wide })).rejects.toMatchObject({
    message: expect.stringMatching(/^The rule changes step \d+, before step /),
  });
  await expect(forkCassette(cassette, { step: 1 })).rejects.toMatchObject({ message: "The fork changes nothing." });
});
