import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { outcomeOf } from "../../testing/open-command.ts";
import { seedModels } from "../../testing/seed-models.ts";
import { scratchMachine, TANDEM } from "../../testing/run-tandem.ts";

const FILE = `# mine
llm:
    models:
        default:  opus   # the big one
    limits:
        patience: 1h
`;

describe("a config that cannot be used", () => {
  test("is one clear error with its location", async () => {
    await using machine = await scratchMachine("llm:\n  provider:\n    backend: claudecode\n");
    const { code, stderr } = await machine.run(["text", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("tandem.yaml:3:14: llm.provider.backend");
    expect(stderr).toContain("Did you mean claude-code?");
    expect(stderr).not.toContain("    at ");
  });

  test("lists all problems in JSON", async () => {
    await using machine = await scratchMachine("llm:\n  pol: {}\n  models:\n    default: a b\n");
    const { code, stderr } = await machine.run(["status", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "config_invalid", problems: [{ line: 2, key: "llm.pol", nearest: "pool" }, { line: 4 }] },
    });
  });

  test("a config that cannot be read gives the reason", async () => {
    await using machine = await scratchMachine();
    await mkdir(machine.folder.join("project", "tandem.yaml"));
    expect(await machine.run(["status"])).toMatchObject({ code: 2, stderr: expect.stringContaining("it is a folder") });
  });

  // Root can read any file unless it drops that capability first.
  const isRoot = process.getuid?.() === 0;
  const asOrdinary = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
  const possible = !isRoot || spawnSync(asOrdinary[0]!, [...asOrdinary.slice(1), "true"]).status === 0;
  test.runIf(possible)("without permission says so (for root, needs setpriv)", async () => {
    await using machine = await scratchMachine("llm: {}");
    execFileSync("chmod", ["0", machine.folder.join("project", "tandem.yaml")]);
    expect(await machine.runProcess(["status"], { wrapper: asOrdinary })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("permission denied"),
    });
  });
});

describe("tandem config", () => {
  test("set changes one value, keeps every other byte, and works from a subfolder", async () => {
    await using machine = await scratchMachine(FILE);
    await mkdir(machine.folder.join("project", "deep", "down"), { recursive: true });
    const outcome = await machine.run(["config", "set", "llm.models.default", "haiku"], { cwd: "deep/down" });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(await readFile(machine.folder.join("project", "tandem.yaml"), "utf8")).toBe(FILE.replace("opus ", "haiku "));
  });

  test("set keeps other settings and does not rewrite an unchanged file", async () => {
    await using machine = await scratchMachine(FILE);
    const file = machine.folder.join("project", "tandem.yaml");
    await machine.run(["config", "set", "llm.pool.size", "2"]);
    const { stdout } = await machine.run(["config", "get", "llm.limits.patience"]);
    expect(stdout).toBe("1h\n");
    const before = await stat(file);
    await machine.run(["config", "set", "llm.pool.size", "2"]);
    expect((await stat(file)).ino).toBe(before.ino);
  });

  test("a list is set as a,b and shown in the file's format", async () => {
    await using machine = await scratchMachine("");
    const file = machine.folder.join("project", "tandem.yaml");
    expect((await machine.run(["config", "set", "sessions.roots", "., ../other"])).code).toBe(0);
    expect(await readFile(file, "utf8")).toBe("sessions:\n  roots: [., ../other]\n");
    expect((await machine.run(["config", "get", "sessions.roots"])).stdout).toBe("- .\n- ../other\n");
    const { stdout } = await machine.run(["config", "show"]);
    expect(stdout).toMatch(/^sessions\.roots +\[\., \.\.\/other\] +tandem\.yaml:2$/m);
    expect(stdout).toMatch(/^server\.allowedHosts +\[\] +default$/m);
  });

  test("unset restores the default", async () => {
    await using machine = await scratchMachine(FILE);
    expect((await machine.run(["config", "unset", "llm.models.default"])).code).toBe(0);
    expect((await machine.run(["config", "get", "llm.models.default"])).stdout).toBe("sonnet\n");
  });

  test.each([
    ["llm.limits.concurrency", "900", "from 1 to 64"],
    ["llm.provider.backend", "antropic", "Did you mean anthropic?"],
    ["llm.models.defualt", "opus", "Did you mean llm.models.default?"],
    ["llm.models", "opus", "is a section"],
    ["llm.models.default", "sonet", `Did you mean "sonnet"?`],
    ["llm.provider.anthropic.apiKey", "sk-ant-pasted", "does not belong in this file"],
  ])("set %s %s is refused, and the file is as it was", async (key, value, text) => {
    await using machine = await scratchMachine(FILE);
    const { code, stdout, stderr } = await machine.run(["config", "set", key, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(text);
    expect(stdout + stderr).not.toContain("sk-ant-pasted");
    expect(await readFile(machine.folder.join("project", "tandem.yaml"), "utf8")).toBe(FILE);
  });

  test("set refuses a model that the backend's list does not have", async () => {
    await using machine = await scratchMachine(FILE);
    await seedModels(machine);
    expect(await machine.run(["config", "set", "llm.models.triage", "nonsense"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not offer "nonsense"'),
    });
    expect(await readFile(machine.folder.join("project", "tandem.yaml"), "utf8")).toBe(FILE);
  });

  test("show and get work without a tandem.yaml", async () => {
    await using machine = await scratchMachine();
    const { code, stdout } = await machine.run(["config", "show"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^llm\.provider\.backend +claude-code +default$/m);
    expect(await machine.run(["config", "get", "llm.models.default"])).toMatchObject({ code: 0, stdout: "sonnet\n" });
    expect(await machine.run(["config", "set", "llm.models.default", "opus"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("tandem setup"),
    });
  });

  test("show lists the effective settings and their sources", async () => {
    await using machine = await scratchMachine(FILE);
    const { stdout } = await machine.run(["config", "show", "--json"]);
    expect((JSON.parse(stdout) as { settings: unknown[] }).settings).toEqual(
      expect.arrayContaining([
        { key: "llm.models.default", value: "opus", line: 4 },
        { key: "llm.limits.patience", value: "1h", line: 6 },
        { key: "llm.limits.idle", value: "2m" },
      ]),
    );
  });

  test("schema is JSON Schema", async () => {
    await using machine = await scratchMachine();
    const { stdout } = await machine.run(["config", "schema"]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "object", additionalProperties: false, properties: { llm: {} } });
  });

  test("--project and TANDEM_PROJECT select the project", async () => {
    await using machine = await scratchMachine(FILE);
    await mkdir(machine.folder.join("elsewhere"));
    const get = (...flags: string[]) => ["config", "get", "llm.models.default", ...flags];
    const cwd = "../elsewhere";
    expect((await machine.run(get(), { cwd })).stdout).not.toBe("opus\n");
    expect((await machine.run(get("--project", "../project"), { cwd })).stdout).toBe("opus\n");
    expect((await machine.run(get(), { cwd, env: { TANDEM_PROJECT: machine.project } })).stdout).toBe("opus\n");
    expect(await machine.run(get("--project", "nowhere"), { cwd })).toMatchObject({ code: 2 });
  });
});

const unix = process.platform !== "win32";

// A private mount namespace for this command.
const UNSHARE = "unshare";
const canMount = (() => {
  try {
    execFileSync(UNSHARE, ["-m", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe("a full disk", () => {
  test.runIf(unix)("keeps the config unchanged and leaves no partial file", async () => {
    await using machine = await scratchMachine(FILE);
    // A file size limit of 0 simulates a full disk on any machine.
    const line = `ulimit -f 0; exec "$0" "$@"`;
    const child = spawn("sh", ["-c", line, process.execPath, TANDEM, "config", "set", "llm.models.default", "haiku"], {
      cwd: machine.project,
      env: machine.variables,
    });
    const { code, stderr } = await outcomeOf(child);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("the disk is full") });
    expect(await readFile(machine.folder.join("project", "tandem.yaml"), "utf8")).toBe(FILE);
    expect(await readdir(machine.project)).toEqual(["tandem.yaml"]);
  });

  test.runIf(canMount)("behaves the same if it is really full (needs the right to mount)", async () => {
    await using machine = await scratchMachine(FILE);
    await mkdir(machine.folder.join("mount"));
    const script = `mount -t tmpfs -o size=64k none "$MOUNT" && cp tandem.yaml "$MOUNT" && cd "$MOUNT" || exit 99
      head -c 1000000 /dev/zero > fill 2> /dev/null
      "$0" "$@"; code=$?; rm fill; ls -A; cat tandem.yaml; exit $code`;
    const args = [process.execPath, TANDEM, "config", "set", "llm.models.default", "x1".repeat(2_500)];
    const child = spawn(UNSHARE, ["-m", "sh", "-c", script, ...args], {
      cwd: machine.project,
      env: { ...machine.variables, MOUNT: machine.folder.join("mount") },
    });
    expect(await outcomeOf(child)).toEqual({
      code: 1,
      signal: null,
      stdout: `tandem.yaml\n${FILE}`,
      stderr: expect.stringContaining("the disk is full"),
    });
  });

  test.runIf(unix)("for the output is an error, not a success", async () => {
    await using machine = await scratchMachine(FILE);
    const child = spawn("sh", ["-c", `exec "$0" "$@" > /dev/full`, process.execPath, TANDEM, "config", "schema"], {
      cwd: machine.project,
      env: machine.variables,
    });
    expect(await outcomeOf(child)).toMatchObject({ code: 1, stderr: expect.stringContaining("The disk is full") });
  });
});
