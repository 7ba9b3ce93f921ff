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

  test("--help names every command and exit code, and every command has examples", async () => {
    await using machine = await scratchMachine();
    const { stdout, code } = await machine.run(["--help"]);
    expect(code).toBe(0);
    for (const { code } of Object.values(EXIT_CODES)) expect(stdout).toMatch(new RegExp(`^  ${code} `, "m"));
    const commands =
      "demo setup text object models up run sessions agents token logs status doctor config trust rehearse completion".split(
        " ",
      );
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
    const leaves = [
      ...commands.filter((name) => !["config", "rehearse", "sessions", "agents", "token"].includes(name)),
      "config set",
      "sessions list",
      "agents create",
      "token create",
      "rehearse serve",
    ];
    const helps = await Promise.all(leaves.map((name) => machine.run([...name.split(" "), "--help"])));
    for (const help of helps) expect(help.stdout).toContain("Examples:\n  $ tandem ");
  });

  test("a command group without a subcommand shows its help", async () => {
    await using machine = await scratchMachine();
    expect(await machine.run(["config"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Usage: tandem config"),
    });
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
  ])("%j is a usage error with the nearest match", async (args, hint) => {
    await using machine = await scratchMachine();
    const { code, stdout, stderr } = await machine.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(hint);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
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
