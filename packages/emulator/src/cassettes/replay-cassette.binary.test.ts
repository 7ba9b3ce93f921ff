import { formatCassette, parseCassette, type CassetteStep } from "@tandem/protocol";
import { overloaded, refusal, reply, stallMidStream, text, thinking, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { startEmulator } from "../start-emulator.ts";
import { emulatedSession } from "../testing/emulated-session.ts";
import { replayCassette } from "./replay-cassette.ts";
import { answeredTurn, ASKING, CUSTOM, exported, QUESTION } from "./testing/recorded-sessions.ts";

const kinds = (steps: readonly CassetteStep[]): string => steps.map(({ kind }) => kind).join(" ");

test("a session with parallel calls, a failing tool and two turns replays identically, again and again", async () => {
  const fastRan = Promise.withResolvers<void>();
  await using emulator = await startEmulator({
    script: [
      reply([
        thinking("Let me see."),
        text("I look."),
        toolUse("Bash", { command: "slow" }, { id: "toolu_slow" }),
        toolUse("Bash", { command: "fast" }, { id: "toolu_fast" }),
      ]),
      toolUse("Bash", { command: "fail" }),
      text("It failed."),
      toolUse("Write", { file_path: "a.txt", content: "x" }),
      text("Written."),
    ],
    tools: {
      Bash: async ({ command }) => {
        if (command === "slow") await fastRan.promise;
        if (command === "fast") fastRan.resolve();
        return command === "fail" ? { text: "Exit code 1", isError: true } : `ran ${String(command)}`;
      },
    },
  });
  const session = await emulatedSession(emulator);
  await session.turn("Look around.");
  await session.turn(`Write a file in ${emulator.folder}.`);
  const cassette = await exported(emulator, session.id);
  expect(kinds(cassette.steps)).toBe("input model call call model call model idle input model call model idle");
  expect(JSON.stringify(cassette)).not.toContain(emulator.folder);
  for (let time = 0; time < 3; time += 1) {
    const { divergence, run } = await replayCassette(cassette);
    expect(divergence).toBeUndefined();
    expect(kinds(run?.steps ?? [])).toBe(kinds(cassette.steps));
  }

  // One byte of a result, in its step only and in every copy of it.
  const file = formatCassette(cassette);
  const step = cassette.steps.find(({ kind }) => kind === "call")?.step;
  for (const changed of [file.replace("ran slow", "ran slop"), file.replaceAll("ran slow", "ran slop")]) {
    expect((await replayCassette(parseCassette(changed))).divergence).toMatchObject({ step, kind: "call" });
  }
  // Without the events there is only the run to compare with.
  const call = cassette.steps.find((each) => each.kind === "call");
  const steps = cassette.steps.map((each) =>
    each === call ? { ...each, result: { ...call.result!, content: [{ type: "text", text: "ran slop" }] } } : each,
  );
  const { divergence } = await replayCassette({ ...cassette, steps, events: [] });
  expect(divergence).toMatchObject({ step, kind: "call", from: "replay" });
});

test("approvals, denials, questions and results of custom tools are sent at their places", async () => {
  await using emulator = await startEmulator({
    script: [
      reply([
        toolUse("Bash", { command: "one" }, { id: "toolu_1" }),
        toolUse("Bash", { command: "two" }, { id: "toolu_2" }),
      ]),
      toolUse("mcp__tandem__lookup", { word: "tandem" }),
      toolUse("AskUserQuestion", QUESTION),
      text("Done."),
    ],
    tools: { Bash: ({ command }) => `ran ${String(command)}` },
  });
  const session = await emulatedSession(emulator, [...ASKING!, ...CUSTOM!]);
  let asked = 0;
  await answeredTurn(session, "Work.", ({ name, event }) => {
    if (name === "Bash") {
      asked += 1;
      return asked === 1
        ? { type: "user.tool_confirmation", tool_use_id: event, result: "allow" }
        : { type: "user.tool_confirmation", tool_use_id: event, result: "deny", deny_message: "Not this one." };
    }
    const answer = name === "lookup" ? "A bicycle for two." : "Left";
    return {
      type: "user.custom_tool_result",
      custom_tool_use_id: event,
      content: [{ type: "text", text: answer }],
    };
  });
  const cassette = await exported(emulator, session.id);
  const { divergence } = await replayCassette(cassette);
  expect(divergence).toBeUndefined();
  const results = cassette.steps.flatMap((step) => (step.kind === "call" ? [step.result?.content] : []));
  expect(JSON.stringify(results)).toContain("Not this one.");
});

test("interrupts during an answer and during a tool, retries, a refusal and an error replay identically", async () => {
  await using emulator = await startEmulator({
    script: [
      stallMidStream("It begins"),
      toolUse("Bash", { command: "wait" }),
      overloaded(),
      text("After a retry."),
      refusal("I will not."),
    ],
    tools: { Bash: () => new Promise(() => undefined) },
  });
  const session = await emulatedSession(emulator);
  const { client, id } = session;
  const interrupt = async (isTime: (type: string) => boolean): Promise<void> => {
    const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
    await session.say("Go.");
    let isSent = false;
    for await (const event of stream) {
      if (isTime(event.type) && !isSent) {
        isSent = true;
        await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
      }
      if (event.type === "session.status_idle") return;
    }
  };
  await interrupt((type) => type === "event_delta");
  await interrupt((type) => type === "span.model_request_end");
  const turn = session.turn("Try.");
  const events = await client.beta.sessions.events.stream(id);
  for await (const event of events) if (event.type === "session.status_rescheduled") break;
  emulator.clock.advance(60_000);
  await turn;
  await session.turn("Do what you must not.");
  const cassette = await exported(emulator, id);
  const { divergence } = await replayCassette(cassette);
  expect(divergence).toBeUndefined();
});

test("a session that waits for approval is exported and replayed up to there", async () => {
  await using emulator = await startEmulator({ script: [toolUse("Bash", { command: "one" }, { id: "toolu_1" })] });
  const session = await emulatedSession(emulator, ASKING);
  const stream = await session.client.beta.sessions.events.stream(session.id);
  await session.say("Work.");
  for await (const event of stream) if (event.type === "session.status_idle") break;
  const cassette = await exported(emulator, session.id);
  expect(cassette.steps.at(-1)).toMatchObject({
    kind: "idle",
    stop_reason: "requires_action",
    waiting_for: ["toolu_1"],
  });
  expect((await replayCassette(cassette)).divergence).toBeUndefined();

  // Under another mode or rule, the replay takes another way.
  const bypass = { ...cassette.header, permission_mode: "bypassPermissions" as const };
  expect((await replayCassette({ ...cassette, header: bypass })).divergence).toBeDefined();
  const rule = { tool: "Bash", action: "allow" as const, scope: "user" as const, source: "me" };
  const { divergence } = await replayCassette({ ...cassette, header: { ...cassette.header, rules: [rule] } });
  expect(divergence).toMatchObject({ kind: "call", expected: { permission: "ask" }, actual: { permission: "allow" } });
});

test("a session with parts that a replay cannot repeat is refused by name", async () => {
  await using emulator = await startEmulator({ script: [text("Hello.")] });
  const session = await emulatedSession(emulator);
  await session.turn("Hello.");
  const cassette = await exported(emulator, session.id);
  const quotaWait = { type: "other" as const, event: "tandem.parked" };
  const steps = cassette.steps.map((step) => (step.kind === "input" ? { ...step, event: quotaWait } : step));
  await expect(replayCassette({ ...cassette, steps })).rejects.toMatchObject({
    code: "cassette_not_replayable",
    message: "A replay cannot repeat: a wait for a quota.",
  });
  await expect(replayCassette(cassette, { mode: "real_tools" })).rejects.toMatchObject({
    message:
      "A replay cannot repeat: real tools without the folder (Checkpoints are off on the server (`checkpoints.enabled`).).",
  });
});
