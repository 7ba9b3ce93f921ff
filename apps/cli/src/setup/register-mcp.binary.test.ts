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

    const again = await machine.run(["setup", "--mcp", "claude-code", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ mcp: [{ client: "claude-code", state: "there" }] });
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
    ["comments, which would be lost", '{ // ours\n  "servers": {} }\n'],
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

  test("also works during setup; without the flag nothing is registered", async () => {
    await using machine = await scratchMachine();
    const setup = ["setup", "--yes", "--backend", "claude-code", "--no-verify"];
    expect((await machine.run(setup)).code).toBe(0);
    expect(existsSync(join(machine.project, ".mcp.json"))).toBe(false);
    const { stdout } = await machine.run([...setup, "--mcp", "claude-code"]);
    expect(stdout).toMatch(/mcp +Claude Code: wrote .*\.mcp\.json/);
    const wrong = await machine.run(["setup", "--mcp", "emacs"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("claude-code, cursor, vscode, zed") });
  });
});
