import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
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

/** The scenarios that apply to Tandem: tools over Streamable HTTP. The official client's tests cover those of the long run. */
const SCENARIOS = [
  "server-initialize",
  "tools-call-simple-text",
  "dns-rebinding-protection",
  ...(inject("soak") ? ["ping", "tools-list", "tools-call-error", "server-sse-multiple-streams"] : []),
];

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

  test.each(SCENARIOS)("%s", async (scenario) => {
    const args = [suite!, "server", "--url", `${proxy.url}/mcp`, "--scenario", scenario];
    const env = { PATH: process.env["PATH"], HOME: home, NO_PROXY: "127.0.0.1,localhost" };
    const { code, output } = await new Promise<{ code: number | null; output: string }>((resolve) => {
      const child = execFile(process.execPath, args, { cwd: home, env, timeout: 200_000 }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, output: stdout + stderr }),
      );
    });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/Passed: [1-9]\d*\/\d+, 0 failed/) });
  });
});
