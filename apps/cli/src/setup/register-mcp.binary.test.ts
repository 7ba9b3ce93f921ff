import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../testing/run-tandem.ts";

const CONFIG = "llm: { provider: { backend: anthropic } }\n";

describe("tandem setup --mcp", () => {
  test("writes each program's file and leaves the rest of the project unchanged", async () => {
    await using machine = await scratchMachine(CONFIG);
    const { code, stdout } = await machine.run(["setup", "--mcp", "claude-code,cursor,vscode,zed"]);
    expect(code).toBe(0);
    const read = async (file: string) => JSON.parse(await readFile(join(machine.project, file), "utf8")) as unknown;
    expect(await read(".mcp.json")).toEqual({
      mcpServers: { tandem: { type: "stdio", command: "tandem", args: ["mcp"] } },
    });
    const there = { command: "tandem", args: ["mcp", "--project", "${workspaceFolder}"] };
    expect(await read(".cursor/mcp.json")).toEqual({ mcpServers: { tandem: there } });
    expect(await read(".vscode/mcp.json")).toEqual({ servers: { tandem: { type: "stdio", ...there } } });
    // Zed's settings belong to the user: printed, not written.
    expect(stdout).toContain('"context_servers"');
    expect(stdout).toContain(machine.project);
    expect(await readFile(join(machine.project, "tandem.yaml"), "utf8")).toBe(CONFIG);

    const skill = await readFile(join(machine.project, ".claude/skills/using-the-context/SKILL.md"), "utf8");
    expect(skill).toMatch(/^---\nname: using-the-context\ndescription: .+\n---\n/);

    const again = await machine.run(["setup", "--mcp", "claude-code", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      mcp: [
        { client: "claude-code", state: "there" },
        { client: "claude-code", state: "there", file: expect.stringContaining("SKILL.md") },
      ],
    });
    expect((await machine.run(["setup", "--mcp", "claude-code,cursor", "--remove"])).code).toBe(0);
    for (const file of [".mcp.json", ".cursor/mcp.json", ".claude/skills/using-the-context/SKILL.md"]) {
      expect(existsSync(join(machine.project, file)), file).toBe(false);
    }
  });

  test("a dry run writes nothing, and settings of the user keep their comments through adding and removing", async () => {
    await using machine = await scratchMachine(CONFIG);
    const home = machine.folder.join("user");
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), CODEX_HOME: join(home, ".codex") };
    const codex = join(home, ".codex", "config.toml");
    const toml = '# mine\nmodel = "x" # fast\n\n[mcp_servers.other]\ncommand = "other"\n';
    await mkdir(join(home, ".codex"), { recursive: true });
    await writeFile(codex, toml);
    const desktop = join(home, ".config", "Claude", "claude_desktop_config.json");
    const setup = ["setup", "--mcp", "codex,claude-desktop,opencode"];
    const dry = await machine.run([...setup, "--dry-run"], { env });
    expect(dry.stdout).toContain(`Codex: would write ${codex}`);
    expect(dry.stdout).toContain("[mcp_servers.tandem]");
    expect([await readFile(codex, "utf8"), existsSync(desktop)]).toEqual([toml, false]);

    if (process.platform !== "linux") return;
    expect(await machine.run(setup, { env })).toMatchObject({ code: 0 });
    const added = `${toml}\n[mcp_servers.tandem]\ncommand = "tandem"\nargs = ["mcp","--project",${JSON.stringify(machine.project)}]\n`;
    expect(await readFile(codex, "utf8")).toBe(added);
    expect(JSON.parse(await readFile(desktop, "utf8"))).toMatchObject({
      mcpServers: { tandem: { args: ["mcp", "--project", machine.project] } },
    });
    expect(JSON.parse(await readFile(join(machine.project, "opencode.json"), "utf8"))).toEqual({
      $schema: "https://opencode.ai/config.json",
      mcp: { tandem: { type: "local", command: ["tandem", "mcp"], enabled: true } },
    });
    expect((await machine.run(setup, { env })).stdout).toContain(`Codex: is already in ${codex}`);
    expect((await machine.run([...setup, "--remove"], { env })).stdout).toContain(`Codex: removed it from ${codex}`);
    expect([await readFile(codex, "utf8"), existsSync(desktop)]).toEqual([toml, false]);
  });

  test("adds to an existing file in its layout", async () => {
    await using machine = await scratchMachine(CONFIG);
    const file = join(machine.project, ".mcp.json");
    await writeFile(file, '{\n\t"mcpServers": {\n\t\t"other": { "command": "other" }\n\t},\n\t"more": 1\n}\n');
    expect((await machine.run(["setup", "--mcp", "claude-code"])).code).toBe(0);
    const text = await readFile(file, "utf8");
    expect(JSON.parse(text)).toMatchObject({
      mcpServers: { other: { command: "other" }, tandem: { command: "tandem" } },
      more: 1,
    });
    expect(text).toContain('\n\t\t"tandem"');
  });

  test.each([
    ["another server of the name", '{ "servers": { "tandem": { "command": "mine" } } }\n'],
    ["something else altogether", "[1, 2]\n"],
  ])("does not touch a file with %s, and says what belongs there", async (_, before) => {
    await using machine = await scratchMachine(CONFIG);
    await mkdir(join(machine.project, ".vscode"));
    const file = join(machine.project, ".vscode", "mcp.json");
    await writeFile(file, before);
    const { code, stdout } = await machine.run(["setup", "--mcp", "vscode"]);
    expect([code, await readFile(file, "utf8")]).toEqual([0, before]);
    expect(stdout).toContain('"command": "tandem"');
  });

  test("keeps comments", async () => {
    await using machine = await scratchMachine(CONFIG);
    await mkdir(join(machine.project, ".vscode"));
    const file = join(machine.project, ".vscode", "mcp.json");
    const before = '{\n  // ours\n  "servers": {\n    "other": { "command": "x" }, // works\n  },\n}\n';
    await writeFile(file, before);
    expect((await machine.run(["setup", "--mcp", "vscode"])).code).toBe(0);
    const text = await readFile(file, "utf8");
    expect(text).toContain("// ours");
    expect(text).toContain("// works");
    expect(text).toContain('"tandem": {');
    expect((await machine.run(["setup", "--mcp", "vscode", "--remove"])).code).toBe(0);
    const left = await readFile(file, "utf8");
    expect(left).toContain("// ours");
    expect(left).not.toContain("tandem");
  });

  test("also works during setup; without the flag nothing is registered", async () => {
    await using machine = await scratchMachine();
    const setup = ["setup", "--yes", "--backend", "claude-code", "--no-verify"];
    expect((await machine.run(setup)).code).toBe(0);
    expect(existsSync(join(machine.project, ".mcp.json"))).toBe(false);
    const { stdout } = await machine.run([...setup, "--mcp", "claude-code"]);
    expect(stdout).toMatch(/mcp +Claude Code: wrote .*\.mcp\.json/);
    const wrong = await machine.run(["setup", "--mcp", "emacs"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("claude-code, claude-desktop, cursor") });
  });
});
