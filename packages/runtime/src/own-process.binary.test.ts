import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { reply, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { describe, expect, inject, it } from "vitest";

/** Runs a module in a separate process, with this package as `runtime`, and returns its output. */
async function run(script: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const index = new URL("index.ts", import.meta.url).href;
  const module = `import { configSchema } from "@tandem/protocol"; const INDEX = process.argv[1]; ${script}`;
  const options = {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"] },
    timeout: 120_000 * inject("slowness"),
  };
  return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", module, index, ...args], options);
}

const AROUND = `{ readSecret: async () => "made-up", stateFolder: "/nowhere", hostVariables: {} }`;

describe("module loading", () => {
  /** Makes a call if it gets the URL of an API. */
  async function packagesLoadedFor(backend: string, ...urls: string[]): Promise<string[]> {
    const script = `
      import { registerHooks } from "node:module";
      const resolved = new Set();
      const resolve = (specifier, context, next) => (resolved.add(specifier), next(specifier, context));
      registerHooks({ resolve });
      const { createBackend, createRuntime } = await import(INDEX);
      const [, , name, baseUrl] = process.argv;
      const provider = { backend: name, ...(baseUrl && { [name]: { baseUrl } }) };
      const { llm } = configSchema.parse({ llm: { provider, models: { default: "claude-quartz-9" } } });
      const backend = await createBackend(llm, ${AROUND});
      if (baseUrl) await createRuntime({ config: llm, backend, sink: () => {} }).generateText({ role: "default", prompt: "Go." });
      console.log(JSON.stringify([...resolved]));`;
    return JSON.parse((await run(script, backend, ...urls)).stdout) as string[];
  }

  it("loads no engine if none is used", async () => {
    const loaded = await packagesLoadedFor("none");
    expect(loaded).toContain("./create-backend.ts");
    expect(loaded.filter((name) => /@ai-sdk|agent-sdk|claude-code/.test(name))).toEqual([]);
  });

  it("loads only the chosen AI SDK provider for an API backend, at its first call", async () => {
    expect((await packagesLoadedFor("anthropic")).filter((name) => /@ai-sdk\/anthropic/.test(name))).toEqual([]);
    await using rehearsal = await startRehearsal([text("Done.")]);
    const loaded = await packagesLoadedFor("anthropic", rehearsal.url);
    expect(loaded).toContain("@ai-sdk/anthropic");
    expect(loaded.filter((name) => /@ai-sdk\/g|agent-sdk|claude-code/.test(name))).toEqual([]);
  });

  it("loads no AI SDK for Claude Code", async () => {
    const loaded = await packagesLoadedFor("claude-code");
    expect(loaded).toContain("@tandem/claude-code");
    expect(loaded.filter((name) => /@ai-sdk/.test(name))).toEqual([]);
  });
});

it.each(["anthropic", "gateway"])("prints nothing of its own on %s, and lets the process end", async (backend) => {
  // Triggers of library warnings: an unknown model, many listeners on one signal.
  const calls = Array.from({ length: 15 }, () => toolUse("look"));
  await using rehearsal = await startRehearsal([reply(calls), text("Done.")]);
  const script = `
    import { z } from "zod";
    const { createBackend, createRuntime, defineTool } = await import(INDEX);
    const [, , backend, baseUrl] = process.argv;
    const { llm } = configSchema.parse({
      llm: { provider: { backend, [backend]: { baseUrl } }, models: { default: "anthropic/claude-quartz-9" } },
    });
    const runtime = createRuntime({ config: llm, backend: await createBackend(llm, ${AROUND}), sink: () => {} });
    const look = defineTool({
      name: "look",
      description: "Looks.",
      schema: z.object({}),
      execute: () => new Promise((resolve) => setTimeout(resolve, 20, { markdown: "seen" })),
    });
    const result = await runtime.runAgentLoop({ role: "default", prompt: "Go.", tools: [look], stepBudget: 3 });
    console.log(result.text, result.toolCalls);`;
  const url = backend === "gateway" ? rehearsal.providerUrls.gateway : rehearsal.url;
  expect(await run(script, backend, url)).toMatchObject({ stdout: "Done. 15\n", stderr: "" });
});
