import { describe, expect, inject, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { EXIT_CODES } from "./exit-code.ts";
import { scratchMachine } from "./testing/run-tandem.ts";

describe("tandem", () => {
  test("--version and --help are fast", async () => {
    await using machine = await scratchMachine();
    const report =
      "process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stderr.write(String((user+system)/1000))})";
    const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(report)}` };
    const cost = async (flag: string) => {
      const runs = [];
      for (let i = 0; i < 3; i++) runs.push(Number((await machine.runProcess([flag], { env })).stderr));
      // Take the fastest run: the first one compiles, and a busy machine slows others.
      return Math.min(...runs);
    };
    expect(await cost("--version")).toBeLessThan(150 * inject("slowness"));
    expect(await cost("--help")).toBeLessThan(150 * inject("slowness"));
  });

  test("--version", async () => {
    await using machine = await scratchMachine();
    expect(await machine.run(["--version"])).toMatchObject({ code: 0, stdout: `${packageJson.version}\n`, stderr: "" });
    expect((await machine.run(["-V"])).stdout).toBe(`${packageJson.version}\n`);
  });

  test("--help fits a screen and names help --all, which lists every command and exit code", async () => {
    await using machine = await scratchMachine();
    const core = await machine.run(["--help"]);
    expect(core.code).toBe(0);
    expect(core.stdout).toContain("All commands: tandem help --all");
    expect(core.stdout.split("\n").length).toBeLessThan(40);
    expect(core.stdout).not.toMatch(/^ {2}tokens /m);
    const { stdout } = await machine.run(["help", "--all"]);
    for (const { code } of Object.values(EXIT_CODES)) expect(stdout).toMatch(new RegExp(`^  ${code} `, "m"));
    for (const name of ["run", "sessions", "context", "tokens", "stdio"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    }
    expect((await machine.run(["help", "context", "scan"])).stdout).toContain("Examples:\n  $ tandem context scan");
  });

  test("a group without a subcommand lists, or else shows its help", async () => {
    await using machine = await scratchMachine();
    expect(await machine.run(["config"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("llm.models.default"),
    });
    expect(await machine.run(["rehearse"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Usage: tandem rehearse"),
    });
  });

  test("an old name works, and names the new one except with --json", async () => {
    await using machine = await scratchMachine();
    expect(await machine.run(["token", "list"])).toMatchObject({
      code: 0,
      stderr: "`tandem token` is now `tandem tokens`; the old name works until version 0.3.\n",
    });
    expect(await machine.run(["token", "list", "--json"])).toMatchObject({ code: 0, stderr: "" });
    expect(await machine.run(["stop", "--undo"])).toMatchObject({ code: 0, stdout: "Nothing was stopped.\n" });
  });

  test("shows the help without arguments", async () => {
    await using machine = await scratchMachine();
    expect((await machine.run([])).stdout).toContain("Usage: tandem");
  });

  test.each([
    [["staus"], "Did you mean status?"],
    [["text", "--modle", "x"], "Did you mean --model?"],
    [["config", "shwo"], "Did you mean show?"],
    [["text", "--role", "curater", "hi"], "curator"],
    [["object", "hi"], "--schema"],
    [["completion", "powershell"], "bash, zsh, fish"],
    [["config", "set"], "Example: tandem config set llm.models.triage haiku"],
  ])("%j is a usage error with the nearest match", async (args, hint) => {
    await using machine = await scratchMachine();
    const { code, stdout, stderr } = await machine.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(hint);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(3);
  });

  test("errors are JSON with --json, and have a stack only with --debug", async () => {
    await using machine = await scratchMachine();
    const json = await machine.run(["connections", "list", "--json"]);
    expect(json).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(json.stderr)).toEqual({
      error: { code: "config_missing", message: expect.any(String), fix: expect.stringContaining("tandem setup") },
    });
    expect((await machine.run(["connections", "list"])).stderr).not.toContain("    at ");
    expect((await machine.run(["connections", "list", "--debug"])).stderr).toContain("    at ");
  });

  test("prints no colour without a terminal", async () => {
    await using machine = await scratchMachine("llm: {}");
    const { stdout, stderr } = await machine.run(["config", "show"]);
    expect(stdout + stderr).not.toContain("\u001b");
  });
});
