import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { SessionEvent } from "@tandem/protocol";
import { reply, text, toolUse, type Script } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { runClaude } from "../../testing/run-claude.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

const usage = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });
const script: Script = [
  reply([text("I look."), toolUse("Bash", { command: "echo seen", description: "look" })], usage(100, 10)),
  text("All is well.", usage(120, 12)),
];
const ANYTHING = ["--permission-mode", "bypassPermissions"];
const STREAM = ["--output-format", "stream-json", "--verbose", ...ANYTHING];

describe("tandem convert", () => {
  let machine: Awaited<ReturnType<typeof sessionMachine>>;
  let stream: string;

  beforeAll(async () => {
    machine = await sessionMachine(script);
    stream = (await runClaude(machine, ...STREAM, "Please look")).stdout;
  });
  afterAll(() => machine[Symbol.asyncDispose]());

  const events = (stdout: string) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as SessionEvent);
  const types = (stdout: string) => events(stdout).map(({ type }) => type);
  const WHOLE = [
    "tandem.init",
    "session.status_running",
    "agent.message",
    "agent.tool_use",
    "agent.tool_result",
    "agent.message",
    "session.usage",
    "session.status_idle",
  ];

  it("converts a real stream from a file and from standard input", async () => {
    await writeFile(machine.folder.join("project", "answer.jsonl"), stream);
    const read = await machine.run(["convert", "answer.jsonl"]);
    expect(read.code).toBe(0);
    expect(types(read.stdout)).toEqual(WHOLE);
    const piped = await machine.run(["convert", "-"], { stdin: stream });
    expect(types(piped.stdout)).toEqual(WHOLE);
    const used = events(piped.stdout).find((event) => event.type === "session.usage");
    expect(used).toMatchObject({ usage: { input_tokens: 220, output_tokens: 22 } });
  });

  // Each form is made from the recorded stream. The long run compares them with the binary's own output.
  it.each([
    ["an object", ["--output-format", "json"], () => stream.trim().split("\n").at(-1)!],
    ["a list", ["--output-format", "json", "--verbose"], () => `[${stream.trim().split("\n").join(",")}]`],
    ["text", [], () => "All is well.\n"],
  ])("takes %s of the real binary's", async (_form, args, made) => {
    if (inject("soak")) machine.rehearsal.use(script);
    const output = inject("soak") ? (await runClaude(machine, ...args, ...ANYTHING, "Go")).stdout : made();
    const { code, stdout } = await machine.run(["convert"], { stdin: output });
    expect(code).toBe(0);
    const messages = events(stdout).filter((event) => event.type === "agent.message");
    expect(messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "All is well." }] });
    expect(events(stdout).at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "end_turn" } });
  });

  it("emits events at once, and reports truncated input", async () => {
    const lines = stream.split("\n");
    const call = lines.findIndex((line) => line.includes('"tool_use"'));
    const child = machine.open(["convert"]);
    const shown = createInterface({ input: child.stdout });
    const called = new Promise<void>((resolve) => {
      shown.on("line", (line) => line.includes('"agent.tool_use"') && resolve());
    });
    child.stdin.write(`${lines.slice(0, call + 1).join("\n")}\n`);
    // The call was emitted while the input is still open.
    await called;
    child.stdin.end("half a li");
    const { code, stdout, stderr } = await child.outcome;
    expect(code).toBe(1);
    expect(stderr).toContain("ended before Claude Code's result");
    expect(events(stdout).slice(-5)).toMatchObject([
      { type: "tandem.unknown", kind: "line", message: "half a li" },
      { type: "agent.tool_result", is_error: true, tandem: { interrupted: "crash" } },
      { type: "session.usage" },
      { type: "session.error" },
      { type: "session.status_idle", stop_reason: { type: "retries_exhausted" } },
    ]);
  });

  it("keeps no processed part of a long input in memory", async () => {
    const long = JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: "x".repeat(1e6) }] } });
    const child = machine.start(["convert"], { env: { NODE_OPTIONS: "--max-old-space-size=100" } });
    const ended = once(child, "exit");
    child.stdout!.resume();
    child.stdin!.on("error", () => undefined);
    for (let i = 0; i < 120 && child.exitCode === null && child.signalCode === null; i += 1) {
      if (!child.stdin!.write(`${long}\n`)) await Promise.race([once(child.stdin!, "drain"), ended]);
    }
    child.stdin!.end(`${stream.trim().split("\n").at(-1)}\n`);
    expect(await ended).toEqual([0, null]);
  });

  it("stores it as a readable session on request", async () => {
    const { code, stderr } = await machine.run(["convert", "--import", "--json"], { stdin: stream });
    expect(code).toBe(0);
    const { session } = JSON.parse(stderr) as { session: string };
    const shown = await machine.run(["sessions", "show", session]);
    expect(shown.stdout).toContain("All is well.");
    const { session: row } = JSON.parse((await machine.run(["sessions", "show", session, "--json"])).stdout) as {
      session: { usage: unknown; metadata: Record<string, string> };
    };
    expect(row.metadata["tandem.imported_from"]).toMatch(/^claude-print:/);
    expect(row.usage).toMatchObject({ list_cost: { amount: "0" } });
  });
});
