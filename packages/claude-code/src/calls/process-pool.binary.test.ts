import { spawn } from "node:child_process";
import { once } from "node:events";
import { always, overloaded, slowly, text, toolUse } from "@tandem/rehearsal";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import type { ClaudeCode } from "./claude-code.ts";
import { findExecutable } from "../executable.ts";
import { ProcessSlots } from "../process-slots.ts";
import { call, eventually, PATIENT, runningProcesses, setStage } from "../testing/claude-stage.ts";

const stage = await setStage();
afterAll(() => stage[Symbol.asyncDispose]());

const ask = async (claude: ClaudeCode, answer = "ok", system?: string): Promise<string> => {
  stage.rehearsal.use([text(answer)]);
  return claude.text(call({ system }));
};

describe("reuse", () => {
  /** One function per kind of call; everything it sends contains its number. */
  const kinds = {
    text: async (claude: ClaudeCode, n: number) => {
      stage.rehearsal.use([text(`answer-${n}`)]);
      await claude.text(call({ prompt: `prompt-${n}`, model: "haiku" }));
    },
    object: async (claude: ClaudeCode, n: number) => {
      stage.rehearsal.use([
        toolUse("mcp__tandem__answer", { [`field-${n}`]: 0 }),
        toolUse("mcp__tandem__answer", { [`field-${n}`]: n }),
      ]);
      const jsonSchema = { type: "object", properties: { [`field-${n}`]: { type: "number" } } };
      const check = (value: unknown) => (JSON.stringify(value).includes(`:${n}}`) ? undefined : `complaint-${n}`);
      await claude.object({ ...call({ prompt: `prompt-${n}`, model: "opus" }), jsonSchema, check });
    },
    loop: async (claude: ClaudeCode, n: number) => {
      stage.rehearsal.use([toolUse(`mcp__tandem__tool-${n}`, { input: `input-${n}` }), text(`answer-${n}`)]);
      const schema = z.object({ input: z.string() });
      const tools = [
        {
          name: `tool-${n}`,
          description: `described-${n}`,
          schema,
          execute: async () => ({ markdown: `result-${n}` }),
        },
      ];
      await claude.loop({ ...call({ prompt: `prompt-${n}` }), tools, stepBudget: 4, onStepFinish: async () => {} });
    },
    error: async (claude: ClaudeCode, n: number) => {
      stage.rehearsal.use([overloaded()]);
      await expect(claude.text(call({ prompt: `prompt-${n}` }))).rejects.toMatchObject({ code: "overloaded" });
    },
    abort: async (claude: ClaudeCode, n: number) => {
      stage.rehearsal.use([slowly(text(`answer-${n}`), { firstByteMs: 20_000 })]);
      const controller = new AbortController();
      const running = expect(
        claude.text(call({ prompt: `prompt-${n}`, signal: controller.signal })),
      ).rejects.toMatchObject({ code: "aborted" });
      await stage.rehearsal.waitForModelRequest();
      controller.abort();
      await running;
    },
  };
  type Kind = keyof typeof kinds;

  let claude: ClaudeCode;
  beforeAll(() => {
    // On a busy machine, a process collects its garbage late.
    claude = stage.claude({ pool: { size: 1, maxMemoryMb: 2_000 } });
  });

  test("no data of an earlier call reaches a later request, in any order", async () => {
    // Every kind follows every kind, in a sequence that has each pair once. An abort ends the process: once is enough.
    const names = (Object.keys(kinds) as Kind[]).filter((kind) => inject("soak") || kind !== "abort");
    const pairs = names.flatMap((a, index) => [a, ...names.slice(index + 1).flatMap((b) => [a, b])]);
    const order: Kind[] = [...pairs, names[0]!, "abort", "text"];
    for (const [index, kind] of order.entries()) {
      const n = index + 1_000;
      await kinds[kind](claude, n);
      for (const request of stage.rehearsal.modelRequests) {
        const numbers =
          JSON.stringify([request.messages, request.tools, request.system]).match(
            /(prompt|answer|field|complaint|tool|described|input|result)-1\d{3}/g,
          ) ?? [];
        const foreign = numbers.filter((word) => !word.endsWith(`-${n}`));
        expect(foreign, `call ${n} (${kind}) after ${order.slice(0, index).join(", ")}`).toEqual([]);
        if (kind !== "error" && kind !== "abort")
          expect(request.model).toMatch({ text: /haiku/, object: /opus/, loop: /sonnet/ }[kind]);
      }
    }
  });

  test("a process serves calls of any kind with one system prompt, and each call reports its own cost", async () => {
    await ask(claude);
    // That of the aborted call may still be ending.
    const [pid] = await eventually(
      () => runningProcesses(stage),
      (pids) => pids.length === 1,
    );
    await kinds.loop(claude, 1);
    await kinds.error(claude, 2);
    await kinds.object(claude, 3);
    stage.rehearsal.use([text("ok", { usage: { input_tokens: 5, output_tokens: 6 } })]);
    const last = call();
    await claude.text(last);
    expect(last.used).toMatchObject([["claude-sonnet-5-5", { inputTokens: 5, outputTokens: 6 }]]);
    expect(await runningProcesses(stage)).toEqual([pid]);
    // Another system prompt needs another process.
    await ask(claude, "a", "You are A.");
    expect(stage.rehearsal.modelRequests[0]!.system).toContain("You are A.");
    await eventually(
      () => runningProcesses(stage),
      (pids) => pids.length === 1 && pids[0] !== pid,
    );
    await claude.close();
  });

  test("a process that does not confirm its reset is not reused", async () => {
    const wrapper = join(stage.home, "forgetless.sh");
    await writeFile(wrapper, `#!/bin/sh\nexec '${findExecutable()}' "$@" --disable-slash-commands\n`, { mode: 0o755 });
    await using single = stage.claude({ executable: wrapper, pool: { size: 1 } });
    stage.rehearsal.use([always(text("ok"))]);
    await single.text(call({ prompt: "the first secret" }));
    await single.text(call({ prompt: "the second question" }));
    expect(JSON.stringify(stage.rehearsal.modelRequests[1]!.body)).not.toContain("the first secret");
  });

  test("a process that uses too much memory is replaced", async () => {
    await using limited = stage.claude({ pool: { size: 1, maxMemoryMb: 1 } });
    let first: number | undefined;
    stage.rehearsal.use(async () => {
      [first] = await runningProcesses(stage);
      return text("ok");
    });
    await limited.text(call());
    expect(first).toBeDefined();
    await eventually(
      () => runningProcesses(stage),
      (pids) => pids.length === 1 && !pids.includes(first!),
    );
  });
});

test("an idle pool neither keeps its host alive nor outlives it", async () => {
  const settings = {
    credential: stage.login,
    stateFolder: stage.stateFolder,
    hostVariables: stage.hostVariables,
    pool: { mode: "reuse", size: 2, maxCalls: 50, maxAge: 600_000, maxMemoryMb: 300, idle: 600_000 },
    deadlines: PATIENT,
  };
  stage.rehearsal.use([text("one")]);
  const host = spawn(
    process.execPath,
    [new URL("../testing/call-host.ts", import.meta.url).pathname, JSON.stringify({ settings, prompts: ["a"] })],
    { env: stage.hostVariables, stdio: ["ignore", "pipe", "inherit"] },
  );
  const [code] = (await once(host, "exit")) as [number];
  expect(code).toBe(0);
  expect(await runningProcesses(stage)).toHaveLength(1);
  // The ledger entries outlive the host; the processes do not.
  const { ProcessLedger } = await import("../processes/process-ledger.ts");
  const ledger = new ProcessLedger(`${stage.stateFolder}/processes`);
  await eventually(
    () => ledger.orphans(),
    (orphans) => orphans.length === 0,
  );
});

test("pools that share a limit end each other's idle processes, and a tool may make a call of its own", async () => {
  stage.rehearsal.use([always(text("ok"))]);
  const limit = { slots: new ProcessSlots(1), owner: "test" };
  await using first = stage.claude({ limit });
  await using second = stage.claude({ limit });
  await first.text(call());
  const [idle] = await runningProcesses(stage);
  expect(await second.text(call())).toBe("ok");
  const running = await runningProcesses(stage);
  expect(running).toHaveLength(1);
  expect(running).not.toContain(idle);
  stage.rehearsal.use([toolUse("mcp__tandem__ask", {}), text("inner"), text("outer")]);
  const results: string[] = [];
  const nested = {
    name: "ask",
    description: "Asks another model.",
    schema: z.object({}),
    execute: async () => {
      const markdown = await first.text(call());
      results.push(markdown);
      return { markdown };
    },
  };
  const loop = { ...call(), tools: [nested], stepBudget: 4, onStepFinish: async () => {} };
  expect(await second.loop(loop)).toMatchObject({ text: "outer" });
  expect(results).toEqual(["inner"]);
});
