import { listenOnLoopback, always, madeUpLogin, startRehearsal, text, unauthorized } from "@tandem/rehearsal";
import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { seedModels } from "../../testing/seed-models.ts";
import { scratchMachine } from "../../testing/run-tandem.ts";

const KEY = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };

interface Report {
  ok: boolean;
  checks: { name: string; result: string; detail: string; fix?: string }[];
}

/** The findings by name. */
function findings(stdout: string): Record<string, Report["checks"][number]> {
  return Object.fromEntries((JSON.parse(stdout) as Report).checks.map((check) => [check.name, check]));
}

describe("tandem doctor", () => {
  test("passes with a login, Claude Code's aliases and full ids; names a stray key and an unknown alias", async () => {
    await using rehearsal = await startRehearsal([], { proxy: true });
    await using machine = await scratchMachine();
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    const doctor = async (models: string) => {
      await machine.configure(`llm: { provider: { backend: claude-code }, models: { ${models} } }`);
      // In its own process, because Node reads the proxy's certificate only when it starts.
      return machine.runProcess(["doctor", "--json"], { env: { ...KEY, ...rehearsal.proxy.variables } });
    };
    const { code, stdout } = await doctor("default: opus, triage: fable");
    const found = findings(stdout);
    expect(Object.values(found).filter(({ result }) => result === "failure")).toEqual([]);
    expect(code).toBe(0);
    expect(found["models"]).toMatchObject({ result: "ok", detail: expect.stringContaining("Offered by the service") });
    expect(found["variables"]).toMatchObject({
      result: "warning",
      detail: expect.stringMatching(/ANTHROPIC_API_KEY.*Billed to your Claude login/),
    });
    expect(found["claude code"]?.detail).toMatch(/\d+\.\d+\.\d+/);
    expect(stdout).not.toContain(KEY.ANTHROPIC_API_KEY);
    const { result, detail } = findings((await doctor("default: claude-opus-4-8, triage: quartz")).stdout)["models"]!;
    expect([result, detail]).toEqual(["failure", expect.stringContaining("quartz")]);
    expect(detail).not.toContain("llm.models.default");
    expect(rehearsal.modelRequests).toEqual([]);
  });

  test("reports what it can without a project, and how to start", async () => {
    await using machine = await scratchMachine();
    const { code, stdout } = await machine.run(["doctor", "--json"]);
    expect(code).toBe(1);
    expect(findings(stdout)).toMatchObject({
      config: { result: "failure", fix: expect.stringContaining("tandem setup") },
      node: { result: "ok" },
    });
  });

  test("reports an unknown model, ignored settings and open permissions with their fixes", async () => {
    await using rehearsal = await startRehearsal([]);
    await using machine = await scratchMachine(`llm:
  provider:
    backend: anthropic
    anthropic: { baseUrl: "${rehearsal.url}", apiKey: "file:key" }
  models: { default: claude-nothing-9 }
  pool: { size: 2 }
`);
    await writeFile(`${machine.project}/key`, "sk-ant-api03-made-up\n", { mode: 0o644 });
    await machine.trust();
    await chmod(machine.variables.TANDEM_HOME, 0o755);
    const { code, stdout } = await machine.run(["doctor", "--json"]);
    expect(code).toBe(1);
    expect(findings(stdout)).toMatchObject({
      models: { result: "failure", detail: expect.stringContaining("claude-nothing-9") },
      ignored: { result: "warning", fix: "tandem config unset llm.pool.size" },
      "secret file": { result: "warning", fix: expect.stringContaining("chmod 600") },
      home: { result: "warning", fix: expect.stringContaining("chmod 700") },
      network: { result: "ok" },
    });
  });

  test("reports a missing key and an unreachable network", async () => {
    await using machine = await scratchMachine("llm: { provider: { backend: anthropic } }");
    await machine.trust();
    const { code, stdout } = await machine.run(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failure +credential +.*env:ANTHROPIC_API_KEY is not set/m);
    expect(stdout).toMatch(/^failure +network +.*is unreachable/m);
    expect(stdout).toMatch(/\n\d failures?/);
  });

  test("warns of agents that run commands unasked without a sandbox, and so does status", async () => {
    await using machine = await scratchMachine("llm: {}\nsandbox: { mode: off }");
    await machine.run(["trust"]);
    await seedModels(machine);
    await machine.run(["agents", "add", "--name", "careful"]);
    expect((await machine.run(["doctor"])).stdout).not.toContain("without approval");
    await machine.run(["agents", "add", "--name", "bold", "--allow", "bash"]);
    const warning = "Shell commands run without approval and without a sandbox: the agent bold.";
    expect((await machine.run(["doctor"])).stdout).toMatch(new RegExp(`^warning +commands +${warning}`, "m"));
    expect((await machine.run(["status"])).stdout).toContain(warning);
  });

  test("--probe makes one call and reports a login that the service rejects", async () => {
    await using rehearsal = await startRehearsal([always(unauthorized())], { proxy: true });
    await using machine = await scratchMachine("llm: { provider: { backend: claude-code } }");
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    // In its own process, because Node reads the proxy's certificate only when it starts.
    const doctor = () => machine.runProcess(["doctor", "--probe", "--json"], { env: rehearsal.proxy.variables });
    const rejected = await doctor();
    expect(rejected.code).toBe(1);
    expect(findings(rejected.stdout)).toMatchObject({
      credential: { result: "ok", detail: expect.stringMatching(/^Found: Logged in.*Only a call shows/) },
      probe: { result: "failure", fix: expect.stringContaining("log in again") },
    });
    expect(rejected.stdout).not.toContain("usable");
    rehearsal.use([text("ok")]);
    const accepted = await doctor();
    expect(findings(accepted.stdout)["probe"]).toMatchObject({
      result: "ok",
      detail: expect.stringMatching(/answered in .* tokens; billed to your Claude login/),
    });
    expect(accepted.code).toBe(0);
    expect(rehearsal.modelRequests).toHaveLength(1);
  });

  test("kills processes of a crashed run", async () => {
    await using machine = await scratchMachine("llm: {}");
    const ledger = machine.folder.join("home", ".tandem", "processes");
    // A host that starts a process, records it and exits.
    const host = `
      import { spawn } from "node:child_process";
      const { ProcessLedger } = await import(process.argv[1]);
      const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
      new ProcessLedger("${ledger}").add(child.pid);
      console.log(child.pid);
      process.exit();`;
    const pid = Number(
      execFileSync(process.execPath, ["--input-type=module", "-e", host, import.meta.resolve("@tandem/claude-code")], {
        encoding: "utf8",
      }),
    );
    expect(isRunning(pid)).toBe(true);
    const { stdout } = await machine.run(["doctor", "--json"]);
    expect(findings(stdout)["processes"]).toMatchObject({ result: "warning", detail: expect.stringContaining("1") });
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

describe("tandem status", () => {
  test("shows backend, payer and the models of the roles", async () => {
    await using rehearsal = await startRehearsal([], { proxy: true });
    await using machine = await scratchMachine(
      "llm: { provider: { backend: claude-code }, models: { default: opus, triage: haiku }, promptCaching: { enabled: false } }",
    );
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    const { code, stdout } = await machine.run(["status", "--json"], { env: { ...KEY, ...rehearsal.proxy.variables } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      file: `${machine.project}/tandem.yaml`,
      backend: "claude-code",
      payer: "claude_login",
      auth: { state: "found", account: { kind: "subscription" } },
      models: expect.arrayContaining([
        { role: "triage", model: "haiku", fallsBack: false },
        { role: "repair", model: "opus", fallsBack: true },
      ]),
      ignored: [expect.objectContaining({ key: "llm.promptCaching.enabled" })],
    });
    expect(rehearsal.modelRequests).toEqual([]);
  });

  test.each([
    ["no login", "llm: { provider: { backend: claude-code } }", KEY, 3, "missing"],
    ["no key", "llm: { provider: { backend: gateway } }", KEY, 3, "missing"],
    ["no backend", "llm: {}", {}, 2, "not configured"],
    ["no network", "llm: { provider: { backend: anthropic } }", KEY, 5, "unreachable"],
  ])("%s", async (_, config, env, code, state) => {
    await using machine = await scratchMachine(config);
    await machine.trust();
    expect(await machine.run(["status"], { env })).toMatchObject({ code, stdout: expect.stringContaining(state) });
  });

  test("a rejected key", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}');
    });
    await using service = await listenOnLoopback(server);
    await using machine = await scratchMachine(
      `llm: { provider: { backend: anthropic, anthropic: { baseUrl: "${service.url}" } } }`,
    );
    await machine.trust();
    const { code, stdout } = await machine.run(["status"], { env: KEY });
    expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining("rejected") });
  });

  test("a gateway's list of models does not prove the key", async () => {
    await using rehearsal = await startRehearsal([]);
    const baseUrl = rehearsal.providerUrls.gateway;
    await using machine = await scratchMachine(
      `llm: { provider: { backend: gateway, gateway: { baseUrl: "${baseUrl}" } } }`,
    );
    await machine.trust();
    const { code, stdout } = await machine.run(["status"], { env: { AI_GATEWAY_API_KEY: "made-up" } });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("unverified") });
  });

  test("distinguishes an expired login from a missing one", async () => {
    await using rehearsal = await startRehearsal([], { proxy: true });
    await using machine = await scratchMachine("llm: { provider: { backend: claude-code } }");
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR, { expiresAt: new Date("2020-01-01"), refreshToken: null });
    const { code, stdout } = await machine.run(["status"], { env: rehearsal.proxy.variables });
    expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining("expired") });
  });
});
