import { madeUpLogin, startRehearsal } from "@tandem/rehearsal";
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { outcomeOf } from "../../testing/open-command.ts";
import { scratchMachine, TANDEM } from "../../testing/run-tandem.ts";

const env = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };
const configOf = async (machine: { project: string }) =>
  parse(await readFile(`${machine.project}/tandem.yaml`, "utf8")) as unknown;

describe("tandem setup --yes", () => {
  test("writes a commented config and trusts it", async () => {
    await using rehearsal = await startRehearsal([]);
    await using machine = await scratchMachine();
    const flags = ["--backend", "anthropic", "--base-url", rehearsal.url, "--model", "opus"];
    const { code, stdout } = await machine.run(["setup", "--yes", ...flags], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("The key is accepted.");
    expect(await configOf(machine)).toEqual({
      llm: { provider: { backend: "anthropic", anthropic: { baseUrl: rehearsal.url } }, models: { default: "opus" } },
    });
    expect(await readFile(`${machine.project}/tandem.yaml`, "utf8")).toMatch(/# .*env:NAME/);
    expect((await machine.run(["status"], { env })).code).toBe(0);
  });

  test("keeps existing settings", async () => {
    const before = "# ours\nllm:\n  limits:\n    patience: 1h # long\n";
    await using machine = await scratchMachine(before);
    await machine.run(["setup", "--yes", "--backend", "vertex", "--vertex-project", "my-project", "--no-verify"]);
    const after = await readFile(`${machine.project}/tandem.yaml`, "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect(parse(after)).toEqual({
      llm: { limits: { patience: "1h" }, provider: { backend: "vertex", vertex: { project: "my-project" } } },
    });
  });

  test("with Claude Code and no login, writes the config and explains the login, even if a key is set", async () => {
    await using machine = await scratchMachine();
    const { code, stdout } = await machine.run(["setup", "--yes", "--backend", "claude-code", "--json"], { env });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      changed: true,
      payer: "claude_login",
      auth: { state: "missing", fix: expect.stringContaining("tandem login") },
    });
  });

  test("with Claude Code and a login, names the account", async () => {
    await using rehearsal = await startRehearsal([], { proxy: true });
    await using machine = await scratchMachine();
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    const { code, stdout } = await machine.run(["setup", "--yes", "--backend", "claude-code"], {
      env: rehearsal.proxy.variables,
    });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("your Claude login") });
    expect(rehearsal.modelRequests).toEqual([]);
  });

  test("names the settings that the backend ignores", async () => {
    await using machine = await scratchMachine("llm: { promptCaching: { toolsTtl: 5m } }");
    const { stdout } = await machine.run(["setup", "--yes", "--backend", "claude-code", "--no-verify"]);
    expect(stdout).toContain("llm.promptCaching.toolsTtl");
  });

  test.each([
    [["--yes"], "--backend"],
    [[], "no terminal"],
    [["--yes", "--backend", "claude-code", "--api-key", "env:X"], "--api-key has no effect"],
    [["--yes", "--backend", "anthropic", "--api-key", "sk-ant-pasted"], "does not belong in this file"],
    [["--yes", "--backend", "vertex", "--vertex-project", "Not A Project"], "expected a Google Cloud project id"],
  ])("%j is refused and nothing is written", async (flags, text) => {
    await using machine = await scratchMachine();
    const { code, stderr } = await machine.run(["setup", ...flags]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    expect(stderr).not.toContain("sk-ant-pasted");
    expect(existsSync(`${machine.project}/tandem.yaml`)).toBe(false);
  });
});

// Runs a program on a terminal.
const SCRIPT = "script";
const hasScript = (() => {
  try {
    return execFileSync(SCRIPT, ["--version"], { encoding: "utf8" }).includes("util-linux");
  } catch {
    return false;
  }
})();

describe.runIf(hasScript)("tandem setup on a terminal (needs `script` of util-linux)", () => {
  async function onTerminal(keys: (screen: string) => string | undefined) {
    const machine = await scratchMachine();
    const child = spawn(SCRIPT, ["-qec", `'${process.execPath}' '${TANDEM}' setup --no-verify`, "/dev/null"], {
      cwd: machine.project,
      env: { ...machine.variables, TERM: "xterm" },
    });
    let screen = "";
    const sent = new Set<string>();
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      screen += chunk;
      const answer = keys(screen);
      if (answer === undefined || sent.has(answer)) return;
      sent.add(answer);
      child.stdin.write(answer.slice(1));
    });
    const { code } = await outcomeOf(child);
    return { machine, code, screen };
  }

  test("asks for backend, billing and MCP clients before its closing line, and shows its findings", async () => {
    // A leading digit identifies each answer.
    const { machine, code, screen } = await onTerminal((screen) => {
      if (screen.includes("with which programs?")) return "4\r";
      if (screen.includes("Which default model")) return "3\r";
      if (screen.includes("Which account is billed?")) return "2\r";
      return screen.includes("Which model backend?") ? "1\r" : undefined;
    });
    await using _ = machine;
    expect(screen).toContain("Claude Code has no login on this machine.");
    expect(screen.indexOf("All questions answered.")).toBeGreaterThan(screen.lastIndexOf("with which programs?"));
    expect(code).toBe(0);
    expect(await configOf(machine)).toMatchObject({
      llm: { provider: { backend: "claude-code" }, claudeCode: { auth: "login" } },
    });
  });

  test("Ctrl-C writes nothing", async () => {
    const { machine, code } = await onTerminal((screen) =>
      screen.includes("Which model backend?") ? "1\u0003" : undefined,
    );
    await using _ = machine;
    expect(code).toBe(130);
    expect(existsSync(`${machine.project}/tandem.yaml`)).toBe(false);
  });
});
