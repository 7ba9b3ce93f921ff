import {
  always,
  cutConnection,
  madeUpLogin,
  modelNotFound,
  overloaded,
  planLimit,
  rateLimited,
  refusal,
  stallBeforeFirstByte,
  startRehearsal,
  text,
  times,
  unauthorized,
  type Script,
} from "@tandem/rehearsal";
import type { CallReport } from "@tandem/protocol";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, inject, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { outcomeOf } from "../../testing/open-command.ts";
import { scratchMachine, TANDEM } from "../../testing/run-tandem.ts";

const KEY = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };

/** A trusted project whose backend is the rehearsal. */
async function rehearsedMachine(script: Script, limits = "attempts: 1") {
  const rehearsal = await startRehearsal(script);
  const machine = await scratchMachine(
    `llm:\n  provider:\n    backend: anthropic\n    anthropic: { baseUrl: "${rehearsal.url}" }\n  limits: { ${limits} }\n`,
  );
  await machine.trust();
  return {
    ...machine,
    rehearsal,
    async [Symbol.asyncDispose]() {
      await rehearsal.close();
      await machine[Symbol.asyncDispose]();
    },
  };
}

describe("tandem text", () => {
  test("prints only the answer", async () => {
    await using machine = await rehearsedMachine([text("The Rhine.")]);
    const outcome = await machine.run(["text", "Name", "a river", "--system", "Be brief.", "--model", "opus"], {
      env: KEY,
    });
    expect(outcome).toEqual({ code: 0, signal: null, stdout: "The Rhine.\n", stderr: "" });
    const [request] = machine.rehearsal.modelRequests;
    expect(JSON.stringify(request?.body)).toContain("Name a river");
    expect(JSON.stringify(request?.body)).toContain("Be brief.");
    expect(request?.model).toContain("opus");
  });

  test("reads the prompt from standard input, alone or after the argument", async () => {
    await using machine = await rehearsedMachine([times(2, text("ok"))]);
    await machine.run(["text"], { env: KEY, stdin: "all from a pipe\n" });
    await machine.run(["text", "Summarise:"], { env: KEY, stdin: "the piped part\n" });
    const [first, second] = machine.rehearsal.modelRequests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain("all from a pipe");
    expect(second).toContain("Summarise:\\n\\nthe piped part");
  });

  test("answers though a pipe stays open and silent, and waits for a slow one with -", async () => {
    await using machine = await rehearsedMachine([times(2, text("ok"))]);
    const silent = machine.open(["text", "hi"], { env: KEY });
    expect(await silent.outcome).toMatchObject({ code: 0, stdout: "ok\n", stderr: expect.stringContaining("Add -") });
    const slow = machine.open(["text", "Summarise:", "-"], { env: KEY });
    // The notice comes after the time at which a silent pipe would be left out.
    await once(slow.stderr, "data");
    slow.stdin.end("the slow part");
    expect(await slow.outcome).toMatchObject({ code: 0, stdout: "ok\n" });
    const [first, second] = machine.rehearsal.modelRequests.map(({ lastUserText }) => lastUserText);
    expect([first, second]).toEqual(["hi", "Summarise:\n\nthe slow part"]);
  });

  test("--json includes usage, price and payer", async () => {
    await using machine = await rehearsedMachine([text("The Rhine.")]);
    const { stdout } = await machine.run(["text", "hi", "--json", "--role", "triage"], { env: KEY });
    expect(JSON.parse(stdout)).toMatchObject({
      text: "The Rhine.",
      report: {
        role: "triage",
        backend: "anthropic",
        payer: "anthropic_api_key",
        usage: { outputTokens: expect.any(Number) },
      },
    });
  });

  test("without a prompt is a usage error", async () => {
    await using machine = await rehearsedMachine([]);
    expect(await machine.run(["text"], { env: KEY })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("prompt is missing"),
    });
  });

  test("a closed pipe is no error", async () => {
    await using machine = await rehearsedMachine([text("long ".repeat(20_000))]);
    const child = spawn("sh", ["-c", `"$0" "$@" | head -c 4`, process.execPath, TANDEM, "text", "hi"], {
      cwd: machine.project,
      env: { ...machine.variables, ...KEY },
    });
    child.stdin.end();
    expect(await outcomeOf(child)).toEqual({ code: 0, signal: null, stdout: "long", stderr: "" });
  });
});

describe("bad input gets one clear sentence, the next step and the right exit code", () => {
  test.each<[string, Script, number, string]>([
    ["a wrong key", [unauthorized()], 3, "→"],
    ["an unknown model", [modelNotFound("claude-nothing-9")], 2, "tandem models"],
    ["an overloaded service", [overloaded()], 4, "→"],
    ["a quota that resets in an hour", [planLimit(), planLimit()], 4, "→"],
    ["a refusal", [refusal()], 6, "→"],
    ["a connection that breaks", [cutConnection()], 5, "tandem doctor"],
  ])("%s", async (_, script, code, text) => {
    await using machine = await rehearsedMachine(script, "attempts: 1, patience: 1s");
    const outcome = await machine.run(["text", "hi"], { env: KEY });
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).toMatch(/^error: \S/m);
    expect(outcome.stderr).toContain(text);
    expect(outcome.stderr).not.toContain("    at ");
    expect(outcome.stderr).not.toContain(KEY.ANTHROPIC_API_KEY);
  });

  test("a missing key", async () => {
    await using machine = await rehearsedMachine([]);
    const { code, stderr } = await machine.run(["text", "hi"]);
    expect(code).toBe(3);
    expect(stderr).toContain("env:ANTHROPIC_API_KEY is not set");
    expect(machine.rehearsal.requests).toHaveLength(0);
  });

  test("a dead network", async () => {
    await using machine = await scratchMachine("llm: { provider: { backend: anthropic }, limits: { attempts: 1 } }");
    await machine.trust();
    expect(await machine.run(["text", "hi"], { env: KEY })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("tandem doctor"),
    });
  });

  test("--debug shows the cause and no key", async () => {
    await using machine = await rehearsedMachine([unauthorized()]);
    const { code, stderr } = await machine.run(["text", "hi", "--debug"], { env: KEY });
    expect(code).toBe(3);
    expect(stderr).toContain("    at ");
    expect(stderr).not.toContain(KEY.ANTHROPIC_API_KEY);
  });

  test("does not repeat a key with a line break", async () => {
    await using machine = await rehearsedMachine([]);
    const { code, stderr } = await machine.run(["text", "hi", "--debug"], {
      env: { ANTHROPIC_API_KEY: "sk-one\nsk-two" },
    });
    expect(code).toBe(3);
    expect(stderr).not.toMatch(/sk-one|sk-two/);
  });

  test("no backend", async () => {
    await using machine = await scratchMachine("llm: {}");
    expect(await machine.run(["text", "hi"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("tandem setup"),
    });
  });

  test("an invalid proxy", async () => {
    await using machine = await rehearsedMachine([]);
    const env = { ...KEY, HTTPS_PROXY: "not a proxy" };
    expect(await machine.run(["text", "hi"], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("HTTPS_PROXY"),
    });
  });
});

describe("waits", () => {
  test("are shown while they last", async () => {
    await using machine = await rehearsedMachine(
      [rateLimited({ retryAfterSeconds: 2 }), text("at last")],
      "attempts: 3",
    );
    const { code, stdout, stderr } = await machine.run(["text", "hi"], { env: KEY });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "at last\n" });
    expect(stderr).toMatch(/waiting .*\ds left/);
  });

  test("are JSON with --json", async () => {
    await using machine = await rehearsedMachine(
      [rateLimited({ retryAfterSeconds: 1 }), text("at last")],
      "attempts: 3",
    );
    const { stdout, stderr } = await machine.run(["text", "hi", "--json"], { env: KEY });
    expect(JSON.parse(stderr.split("\n")[0]!)).toMatchObject({ wait: { reason: expect.any(String), attempt: 2 } });
    const { report } = JSON.parse(stdout) as { report: CallReport };
    expect(report.waitedMs).toBeGreaterThanOrEqual(900);
    expect(report.latencyMs).toBeGreaterThanOrEqual(report.waitedMs);
  });
});

/** The promise is one second from signal to exit. The rest allows for a machine that other tests keep busy now. */
const aboutASecondMs = (): number =>
  1_500 * inject("slowness") * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

describe("Ctrl-C", () => {
  test("SIGTERM ends a call, at once", async () => {
    await using machine = await rehearsedMachine([stallBeforeFirstByte()]);
    const child = machine.start(["text", "hi"], { env: KEY });
    child.stdin!.end();
    const ended = outcomeOf(child);
    await machine.rehearsal.waitForModelRequest();
    const since = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 143, stdout: "", stderr: expect.not.stringContaining("    at ") });
    expect(performance.now() - since).toBeLessThan(aboutASecondMs());
  });

  test("is forwarded by the launcher", async () => {
    await using machine = await rehearsedMachine([stallBeforeFirstByte()]);
    const launcher = new URL("../../../bin/node24.mjs", import.meta.url).href;
    const code = `import { become } from "${launcher}"; become(process.execPath, "${TANDEM}", ["text", "hi"])`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      cwd: machine.project,
      env: { ...machine.variables, ...KEY },
    });
    child.stdin.end();
    const ended = outcomeOf(child);
    await machine.rehearsal.waitForModelRequest();
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, stderr: expect.stringContaining("Interrupted.") });
  });

  test("twice exits at once", async () => {
    await using machine = await scratchMachine("llm: {}");
    // Ignores the first Ctrl-C: it never checks the signal.
    const interrupt = new URL("../../interrupt.ts", import.meta.url).href;
    const code = `import { catchInterrupts } from "${interrupt}"; const { signal, allow } = catchInterrupts(); allow(600_000);
      signal.addEventListener("abort", () => console.log("aborted")); setInterval(() => {}, 1000); console.log("up")`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { env: machine.variables });
    await once(child.stdout, "data");
    const ended = outcomeOf(child);
    child.kill("SIGINT");
    await once(child.stdout, "data");
    // Signals closer together count as one.
    await delay(400);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
  });

  test("while waiting for standard input", async () => {
    await using machine = await rehearsedMachine([]);
    const waiting = machine.open(["text"], { env: KEY });
    // The message that it waits for input.
    await once(waiting.stderr, "data");
    expect(await waiting.stop()).toMatchObject({ code: 130 });
  });
});

describe("on Claude Code", () => {
  const LOGIN = "llm: { provider: { backend: claude-code }, limits: { attempts: 1 } }";

  test("without a login it explains how to log in, even if an API key is set", async () => {
    await using machine = await scratchMachine(LOGIN);
    const { code, stderr } = await machine.run(["text", "hi"], { env: KEY });
    expect(code).toBe(3);
    expect(stderr).toContain("/login");
  });

  test("uses and bills the user's login and ignores a stray key", async () => {
    await using rehearsal = await startRehearsal([always(text("The Rhine."))], { proxy: true });
    // Without a tandem.yaml, calls run on the login too.
    await using machine = await scratchMachine();
    const { accessToken } = await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    const { code, stdout } = await machine.run(["text", "hi", "--json"], {
      env: { ...KEY, ...rehearsal.proxy.variables },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      text: "The Rhine.",
      report: { payer: "claude_login", backend: "claude-code" },
    });
    for (const { headers } of rehearsal.modelRequests) {
      expect(headers["authorization"]).toBe(`Bearer ${accessToken}`);
      expect(headers["x-api-key"]).toBeUndefined();
    }
    expect(rehearsal.refused).toEqual([]);
  });

  test("Ctrl-C leaves no process behind", async () => {
    await using rehearsal = await startRehearsal([stallBeforeFirstByte()]);
    await using machine = await scratchMachine(
      `llm: { provider: { backend: claude-code }, claudeCode: { auth: api_key, baseUrl: "${rehearsal.url}" }, limits: { attempts: 1 } }`,
    );
    await machine.trust();
    const asking = machine.open(["text", "hi"], { env: KEY });
    asking.stdin.end();
    await rehearsal.waitForModelRequest();
    const [entry] = await readdir(machine.folder.join("home", ".tandem", "processes"));
    const pid = Number.parseInt(entry!, 10);
    const since = performance.now();
    expect(await asking.stop()).toMatchObject({ code: 130 });
    expect(performance.now() - since).toBeLessThan(aboutASecondMs());
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
