import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ContextTool } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { type MadeUpContext, makeUpContext } from "../testing/made-up-context.ts";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTokenProxy } from "../testing/start-token-proxy.ts";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

/** The official conformance suite of MCP. It has no library, only a command. */
const suite = (() => {
  try {
    const require = createRequire(import.meta.url);
    return join(dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist", "index.js");
  } catch {
    return undefined;
  }
})();

const ONLY_TEXT = "results are text with structured content: no images, audio or embedded resources";
const NO_RESOURCES = "no resources: pages and tables are read with the tools";
const NO_PROMPTS = "no prompts";
const NO_QUESTIONS = "tools ask the client nothing: no sampling, no elicitation";

/** The suite fails if one of these passes, and if any other scenario does not. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  "completion-complete": "no completion: it completes arguments of prompts and resources",
  "elicitation-sep1034-defaults": NO_QUESTIONS,
  "elicitation-sep1330-enums": NO_QUESTIONS,
  "json-schema-2020-12":
    "the scenario wants a tool with a hand-written schema; Tandem derives the schemas of its tools from their code",
  "logging-set-level": "no log messages to clients: the server's log has them",
  "prompts-get-embedded-resource": NO_PROMPTS,
  "prompts-get-simple": NO_PROMPTS,
  "prompts-get-with-args": NO_PROMPTS,
  "prompts-get-with-image": NO_PROMPTS,
  "prompts-list": NO_PROMPTS,
  "resources-list": NO_RESOURCES,
  "resources-read-binary": NO_RESOURCES,
  "resources-read-text": NO_RESOURCES,
  "resources-subscribe": NO_RESOURCES,
  "resources-templates-read": NO_RESOURCES,
  "resources-unsubscribe": NO_RESOURCES,
  "server-sse-polling":
    "the scenario wants a tool that closes its stream and goes on later; Tandem's tools answer within one stream",
  "tools-call-audio": ONLY_TEXT,
  "tools-call-elicitation": NO_QUESTIONS,
  "tools-call-embedded-resource": ONLY_TEXT,
  "tools-call-image": ONLY_TEXT,
  "tools-call-mixed-content": ONLY_TEXT,
  "tools-call-sampling": NO_QUESTIONS,
  "tools-call-with-logging": "no log messages to clients: the server's log has them",
  "tools-call-with-progress": "no progress notifications: a long job has its own tools and stream",
};

/** The tools that the scenarios call by name, built like Tandem's own. */
const asked = { input: z.object({}), output: z.object({ said: z.string() }), readOnly: true, title: "Asked for" };
const TOOLS: ContextTool[] = [
  {
    ...asked,
    name: "test_simple_text",
    description: "Says one sentence.",
    run: async () => {
      const said = "This is a simple text response for testing.";
      return { markdown: said, structured: { said } };
    },
  },
  {
    ...asked,
    name: "test_error_handling",
    description: "Fails.",
    run: () => Promise.reject(new TandemError("failed", "This tool intentionally returns an error for testing")),
  },
];

describe.runIf(suite !== undefined)("the conformance suite of MCP", () => {
  let context: MadeUpContext;
  let server: TestServer;
  let proxy: Awaited<ReturnType<typeof startTokenProxy>>;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "tandem-conformance-"));
    context = await makeUpContext({ tools: TOOLS });
    server = await startTestServer({ engine: new MemoryEngine().engine, context });
    proxy = await startTokenProxy(server);
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await context[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });

  test("every scenario passes, but for those that need features that Tandem does not offer", async () => {
    const baseline = join(home, "baseline.yml");
    await writeFile(
      baseline,
      `server:\n${Object.keys(NOT_OFFERED)
        .map((name) => `  - ${name}\n`)
        .join("")}`,
    );
    const args = [suite!, "server", "--url", `${proxy.url}/mcp`, "--suite", "all", "--expected-failures", baseline];
    const env = { PATH: process.env["PATH"], HOME: home, NO_PROXY: "127.0.0.1,localhost" };
    const { code, output } = await new Promise<{ code: number | null; output: string }>((resolve) => {
      const options = { cwd: home, env, timeout: 200_000 * inject("slowness") };
      const child = execFile(process.execPath, args, options, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, output: stdout + stderr }),
      );
    });
    expect(code, output).toBe(0);
    const passed = [...output.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed/gm)].map(([, name]) => name!);
    await expect(page(passed.toSorted())).toMatchFileSnapshot("../../../../docs/reference/mcp-conformance.md");
  });
});

const page = (passed: readonly string[]): string => `# MCP conformance

A test runs version 0.1.16 of [the conformance suite of MCP](https://github.com/modelcontextprotocol/conformance) against
\`/mcp\` ([guide](../guides/mcp.md)) and writes this page. It fails if a scenario of the first list fails or one of the second
passes.

## Passed

${passed.map((name) => `- \`${name}\`\n`).join("")}
## Not offered

| scenario | reason |
| --- | --- |
${Object.entries(NOT_OFFERED)
  .map(([name, reason]) => `| \`${name}\` | ${reason} |\n`)
  .join("")}`;
