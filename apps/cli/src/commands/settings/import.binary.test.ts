import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const FILES: Readonly<Record<string, string>> = {
  ".claude/settings.json": JSON.stringify({
    permissions: {
      allow: ["Bash(npm run test:*)", "WebFetch(domain:example.com)"],
      deny: ["Read(./.env)", "Read(//etc/passwd)", "mcp__gh__merge"],
    },
    hooks: { PreToolUse: [], Stop: [{}] },
  }),
  ".mcp.json": JSON.stringify({
    mcpServers: {
      gh: { command: "npx", args: ["gh-mcp"], env: { TOKEN: "${GH_TOKEN}", RAW: "sesame" } },
      docs: { type: "http", url: "https://docs.example/mcp", headers: { Authorization: "$DOCS" } },
    },
  }),
  ".claude/agents/reviewer.md": "---\ndescription: Reads\ntools: Read, Grep, Teleport\nmodel: opus\n---\nYou review.\n",
  "opencode.jsonc": `{ // theirs
    "model": "anthropic/claude-opus-5", "instructions": ["docs/style.md"], "theme": "dusk",
    "agent": { "helper": { "mode": "subagent", "prompt": "You help.", "top_p": 1 } },
    "permission": { "bash": { "git push": "deny", "*": "ask" }, "doom_loop": "ask" },
    "command": { "tidy": { "template": "Tidy $ARGUMENTS", "description": "Tidies: \\"//\\"" } },
    "mcp": { "local": { "type": "local", "command": ["node", "x.js"], "environment": { "K": "{env:K}" } }, "off": { "enabled": false, "url": "https://x" } },
  }`,
};

async function machineWithFiles() {
  const machine = await sessionMachine([]);
  for (const [name, text] of Object.entries(FILES)) {
    const path = machine.folder.join("project", name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const config = () => readFile(machine.folder.join("project", "tandem.yaml"), "utf8");
  return { machine, config };
}

test("imports the settings of Claude Code and opencode, and lists the rest", async () => {
  const { machine, config } = await machineWithFiles();
  await using _ = machine;
  const before = await config();
  const tried = await machine.run(["import", "--dry-run", "--json"]);
  expect(tried).toMatchObject({ code: 0, stderr: "" });
  expect(await config()).toBe(before);
  const found = JSON.parse(tried.stdout);
  expect(found.rules).toEqual([
    { tool: "Read", pattern: ".env", action: "deny" },
    { tool: "Read", pattern: "/etc/passwd", action: "deny" },
    { tool: "mcp__gh__merge", action: "deny" },
    { tool: "Bash", pattern: "npm run test *", action: "allow" },
    { tool: "WebFetch", pattern: "example.com", action: "allow" },
    { tool: "Bash", pattern: "git push", action: "deny" },
    { tool: "Bash", action: "ask" },
  ]);
  expect(found.mcpServers).toEqual({
    local: { command: "node", args: ["x.js"], env: { K: "env:K" } },
    gh: { command: "npx", args: ["gh-mcp"], env: { TOKEN: "env:GH_TOKEN" } },
    docs: { url: "https://docs.example/mcp", headers: { Authorization: "env:DOCS" } },
  });
  const skipped = found.skipped.map(({ what }: { what: string }) => what);
  expect(skipped).toEqual([
    "hooks of .claude/settings.json",
    "RAW of the MCP server gh",
    "Teleport of the agent reviewer",
    "theme of opencode.jsonc",
    "the instructions docs/style.md",
    "the permission doom_loop",
    "MCP server off",
    "the mode subagent of the agent helper",
    "top_p of the agent helper",
  ]);
  expect(found.model).toBe("claude-opus-5");
  expect(found.agents.find(({ name }: { name: string }) => name === "helper").model).toBe("claude-opus-5");
  expect(tried.stdout).not.toContain("sesame");

  expect(await machine.run(["import", "--yes"])).toMatchObject({ code: 0 });
  expect(await config()).toContain("  - tool: Read\n    pattern: .env\n    action: deny\n");
  expect(await config()).toMatch(/models:\s+default: claude-opus-5/);
  expect(await readFile(machine.folder.join("project", ".tandem", "commands", "tidy.md"), "utf8")).toContain(
    "Tidy $ARGUMENTS",
  );
  const agent = await machine.run(["agents", "show", "reviewer", "--json"]);
  expect(JSON.parse(agent.stdout)).toMatchObject({ description: "Reads", system: "You review." });

  const again = await machine.run(["import", "--dry-run"]);
  expect(again.stdout).toContain("Nothing new to import.");
});

test("imports nothing without confirmation", async () => {
  const { machine, config } = await machineWithFiles();
  await using _ = machine;
  const before = await config();
  expect(await machine.run(["import"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  expect(await config()).toBe(before);
});
