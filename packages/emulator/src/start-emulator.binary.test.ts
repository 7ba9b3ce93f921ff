import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { always, overloaded, planLimit, slowly, text, toolUse, when } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { startEmulator } from "./start-emulator.ts";
import { emulatedSession, textsOf } from "./testing/emulated-session.ts";

const DAY_MS = 86_400_000;

describe("a turn without a process", () => {
  test("follows the script: tools answer what the test says, and files are written", async () => {
    await using emulator = await startEmulator({
      script: [
        toolUse("Bash", { command: "ls" }),
        toolUse("Write", { file_path: "notes/a.txt", content: "A" }),
        text("Done."),
      ],
      tools: { Bash: ({ command }) => `ran ${String(command)}` },
    });
    const { turn } = await emulatedSession(emulator);
    expect(textsOf(await turn("Begin."))).toEqual(["Done."]);
    expect(emulator.model.modelRequests[1]?.toolResults[0]?.text).toBe("ran ls");
    expect(await readFile(join(emulator.folder, "notes/a.txt"), "utf8")).toBe("A");
    emulator.model.assertDone();
  });

  test("asks, waits for the answer, and runs the call or not", async () => {
    const commands: unknown[] = [];
    await using emulator = await startEmulator({
      script: [toolUse("Bash", { command: "one" }), toolUse("Bash", { command: "two" }), text("Done.")],
      tools: { Bash: ({ command }) => `${commands.push(command)}` },
    });
    const { client, id, turn, log } = await emulatedSession(emulator, [
      { type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } },
    ]);
    const asked = (events: readonly { type: string; id: string }[]) =>
      events.findLast(({ type }) => type === "agent.tool_use");
    const first = asked(await turn("Begin."));
    expect(commands).toEqual([]);
    const answer = (tool_use_id: string, result: "allow" | "deny") =>
      client.beta.sessions.events.send(id, { events: [{ type: "user.tool_confirmation", tool_use_id, result }] });
    await answer(first!.id, "allow");
    await expect.poll(async () => asked(await log())?.id).not.toBe(first!.id);
    expect(commands).toEqual(["one"]);
    await answer(asked(await log())!.id, "deny");
    await expect.poll(async () => textsOf(await log())).toEqual(["Done."]);
    expect(commands).toEqual(["one"]);
  });

  test("repeats a failed model request at once when the clock moves", async () => {
    await using emulator = await startEmulator({ script: [overloaded(), overloaded(), text("At last.")] });
    const { say, log } = await emulatedSession(emulator);
    await say("Begin.");
    for (const retries of [1, 2]) {
      // The next retry may be made before the clock moves.
      const errors = async () => (await log()).filter(({ type }) => type === "session.error").length;
      await expect.poll(errors).toBeGreaterThanOrEqual(retries);
      emulator.clock.advance(40_000);
    }
    await expect.poll(async () => textsOf(await log())).toEqual(["At last."]);
  });

  test("an interrupt ends it", async () => {
    await using emulator = await startEmulator({
      script: [slowly(text("Word by word by word."), { tokenMs: 60_000 })],
    });
    const { client, id, say, log } = await emulatedSession(emulator);
    await say("Begin.");
    await expect.poll(async () => (await log()).some(({ type }) => type === "span.model_request_start")).toBe(true);
    await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
    await expect.poll(async () => (await log()).at(-1)?.type).toBe("session.status_idle");
  });
});

describe("a restart", () => {
  test.each(["stop", "kill"] as const)("(%s) keeps everything, and a waiting approval can be answered", async (how) => {
    await using emulator = await startEmulator({
      script: [toolUse("Bash", { command: "late" }), text("Done.")],
      tools: { Bash: () => "ran" },
    });
    const { client, id, turn, log } = await emulatedSession(emulator, [
      { type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } },
    ]);
    const asked = (await turn("Begin.")).find(({ type }) => type === "agent.tool_use");
    await emulator.restart(how);
    await client.beta.sessions.events.send(id, {
      events: [{ type: "user.tool_confirmation", tool_use_id: asked!.id, result: "allow" }],
    });
    await expect.poll(async () => textsOf(await log())).toEqual(["Done."]);
    expect(emulator.model.modelRequests.at(-1)?.toolResults[0]?.text).toBe("ran");
  });
});

describe("faults on cue", () => {
  test("the official client gets over 429, a lost request, a lost answer and a repeated request", async () => {
    await using emulator = await startEmulator({ script: [always(text("Hello."))] });
    const { client, id, log } = await emulatedSession(emulator);
    const path = `/v1/sessions/${id}/events`;
    emulator.faults.next({ type: "status", status: 429, retryAfterSeconds: 0 }, { method: "POST", path });
    emulator.faults.next({ type: "lost_request" }, { method: "POST", path });
    await client.beta.sessions.events.send(
      id,
      { events: [{ type: "user.message", content: [{ type: "text", text: "One" }] }] },
      { headers: { "idempotency-key": "one" } },
    );
    emulator.faults.next({ type: "lost_answer" }, { method: "POST", path });
    await client.beta.sessions.events.send(
      id,
      { events: [{ type: "user.message", content: [{ type: "text", text: "Two" }] }] },
      { headers: { "idempotency-key": "two" } },
    );
    expect(emulator.faults.left).toBe(0);
    const messages = (await log()).filter(({ type }) => type === "user.message");
    expect(messages).toHaveLength(2);
  });

  test("a stream is cut after the given number of events", async () => {
    await using emulator = await startEmulator({ script: [text("Hello.")] });
    const { client, id, say } = await emulatedSession(emulator);
    emulator.faults.next({ type: "cut_stream", afterEvents: 2 }, { path: "/stream" });
    const stream = await client.beta.sessions.events.stream(id);
    await say("Begin.");
    const types: string[] = [];
    await expect(
      (async () => {
        for await (const { type } of stream) types.push(type);
      })(),
    ).rejects.toThrow("terminated");
    expect(types).toHaveLength(2);
  });

  test("the limit of a plan ends the turn with its own error", async () => {
    const resetsAt = new Date(Date.now() + DAY_MS);
    await using emulator = await startEmulator({ script: [planLimit({ resetsAt })] });
    const { turn } = await emulatedSession(emulator);
    const errors = (await turn("Begin.")).filter(({ type }) => type === "session.error");
    expect(JSON.stringify(errors)).toContain("model_rate_limited_error");
  });
});

test("webhooks reach the test, once, twice or late", async () => {
  await using emulator = await startEmulator({ script: [always(text("Hello."))] });
  const { client, turn } = await emulatedSession(emulator);
  await client.beta.organization.webhooks.create({
    url: emulator.webhooks.url,
    // The client's types have only the events of user profiles.
    enabled_events: ["session.status_idled" as "user_profile.program_status_updated"],
  });
  emulator.faults.nextWebhook({ type: "duplicate" });
  await turn("One");
  await emulator.webhooks.waitFor("session.status_idled");
  await expect.poll(() => emulator.webhooks.received.length).toBe(2);
  emulator.faults.nextWebhook({ type: "lost" });
  await turn("Two");
  await expect.poll(() => emulator.faults.left).toBe(0);
  emulator.clock.advance(DAY_MS);
  await expect.poll(() => emulator.webhooks.received.length).toBe(3);
});

// 8:30 in Berlin is 7:30 UTC in winter and 6:30 in summer. In New York it is 13:30 and 12:30.
test.each([
  ["summer", "Europe/Berlin", ["2027-03-27T07:30:00", "2027-03-28T06:30:00", "2027-03-29T06:30:00"]],
  ["winter", "Europe/Berlin", ["2027-10-30T06:30:00", "2027-10-31T07:30:00", "2027-11-01T07:30:00"]],
  ["summer", "America/New_York", ["2027-03-13T13:30:00", "2027-03-14T12:30:00", "2027-03-15T12:30:00"]],
  ["winter", "America/New_York", ["2027-11-06T12:30:00", "2027-11-07T13:30:00", "2027-11-08T13:30:00"]],
])("a schedule keeps its local time over a change to %s time (%s)", async (_name, timezone, due) => {
  const [first] = due;
  await using emulator = await startEmulator({
    script: [always(text("Hello."))],
    now: new Date(Date.parse(`${first}Z`) - 3_600_000),
  });
  const { client, agent } = await emulatedSession(emulator);
  const deployment = await client.beta.deployments.create({
    name: "daily",
    agent: agent.id,
    environment_id: "env_local",
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Good morning." }] }],
    schedule: { type: "cron", expression: "30 8 * * *", timezone },
  });
  const runs = async () => (await client.beta.deploymentRuns.list({ deployment_id: deployment.id })).data;
  for (const [index, time] of due.entries()) {
    emulator.clock.moveTo(new Date(Date.parse(`${time}Z`) + 60_000));
    await expect.poll(async () => (await runs()).length).toBe(index + 1);
  }
  const told = JSON.stringify(await runs());
  for (const time of due) expect(told).toContain(time);
});

test("emulators side by side do not see each other", async () => {
  const emulators = await Promise.all(
    Array.from({ length: 5 }, (_, index) => startEmulator({ script: [text(`I am ${index}.`)] })),
  );
  await using cleanup = new AsyncDisposableStack();
  for (const emulator of emulators) cleanup.use(emulator);
  const said = await Promise.all(
    emulators.map(async (emulator) => {
      const { client, turn } = await emulatedSession(emulator);
      const texts = textsOf(await turn("Who?"));
      return { texts, sessions: (await client.beta.sessions.list()).data.length };
    }),
  );
  expect(said).toEqual(emulators.map((_, index) => ({ texts: [`I am ${index}.`], sessions: 1 })));
});

test("with Claude Code, tools are real", async () => {
  await using emulator = await startEmulator({
    claudeCode: true,
    script: [
      always(when(({ toolNames }) => toolNames.length === 0, text("A title"))),
      toolUse("Bash", { command: "echo 6 > six.txt && cat six.txt" }),
      text("Done."),
    ],
  });
  const { turn } = await emulatedSession(emulator);
  expect(textsOf(await turn("Begin."))).toEqual(["Done."]);
  expect(emulator.model.modelRequests.at(-1)?.toolResults[0]?.text).toBe("6");
  expect(await readFile(join(emulator.folder, "six.txt"), "utf8")).toBe("6\n");
});
