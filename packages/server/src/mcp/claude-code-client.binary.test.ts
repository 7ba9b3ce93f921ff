import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findExecutable } from "@tandem/claude-code";
import { reply, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { expect, inject, test } from "vitest";
import { makeUpContext } from "../testing/made-up-context.ts";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";

/** Runs Claude Code with Tandem in its MCP config and a rehearsal as the model. */
async function runClaude(parts: { url: string; secret: string; model: string; prompt: string }) {
  const home = await mkdtemp(join(tmpdir(), "tandem-claude-"));
  await mkdir(join(home, "project"));
  const config = join(home, "mcp.json");
  const headers = { Authorization: `Bearer ${parts.secret}` };
  const servers = { tandem: { type: "http", url: `${parts.url}/mcp`, headers, alwaysLoad: true } };
  await writeFile(config, JSON.stringify({ mcpServers: servers }));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_BASE_URL: parts.model,
    ANTHROPIC_API_KEY: "sk-ant-made-up-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
  };
  const args = ["-p", parts.prompt, "--model", "sonnet", "--mcp-config", config, "--strict-mcp-config"];
  try {
    return await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      const options = { cwd: join(home, "project"), env, timeout: 200_000 * inject("slowness") };
      const child = execFile(
        findExecutable(undefined),
        [...args, "--allowedTools", "mcp__tandem"],
        options,
        (_, stdout, stderr) => resolve({ stdout, stderr }),
      );
      child.stdin?.end();
    });
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

test("Claude Code offers every tool to the model by name and returns the results", async () => {
  await using context = await makeUpContext();
  await using server = await startTestServer({ engine: new MemoryEngine().engine, context });
  await using rehearsal = await startRehearsal([
    reply([toolUse("mcp__tandem__context_search", { query: "refunds" })]),
    reply([toolUse("mcp__tandem__page_read", { key: "page:nothing" })]),
    text("Within 30 days."),
  ]);
  const secret = await server.secretFor("run");
  const { stdout, stderr } = await runClaude({
    url: server.url,
    secret,
    model: rehearsal.url,
    prompt: "When is money paid back?",
  });
  expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining("Within 30 days.") });
  const asked = rehearsal.modelRequests.filter(({ toolNames }) => toolNames.length > 0);
  expect(asked[0]!.toolNames.filter((name) => name.startsWith("mcp__tandem__")).toSorted()).toEqual(
    context.tools.map(({ name }) => `mcp__tandem__${name}`).toSorted(),
  );
  const results = asked.flatMap(({ toolResults }) => toolResults);
  expect(JSON.stringify(results)).toContain("page:refunds");
  expect(JSON.stringify(results)).toContain("There is no page page:nothing.");
  expect(server.log.filter(({ path }) => path === "/mcp").length).toBeGreaterThan(2);
});
