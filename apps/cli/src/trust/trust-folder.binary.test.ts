import { existsSync } from "node:fs";
import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { always, text } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { sessionMachine } from "../testing/session-machine.ts";

type Machine = Awaited<ReturnType<typeof sessionMachine>>;

const put = async (machine: Machine, path: string, content: string): Promise<void> => {
  const file = machine.folder.join("project", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
};
const HOOKS = { SessionStart: [{ hooks: [{ type: "command", command: "touch hooked" }] }] };
const plant = (machine: Machine) => put(machine, ".claude/settings.json", JSON.stringify({ hooks: HOOKS }));
const stateOf = async (machine: Machine): Promise<string> => {
  const { stdout } = await machine.run(["status", "--json"]);
  return (JSON.parse(stdout) as { sessions: { trust: { state: string } } }).sessions.trust.state;
};

describe("tandem trust --folder", () => {
  test("loads a folder's settings in sessions", async () => {
    await using machine = await sessionMachine([always(text("hello"))]);
    const hooked = machine.folder.join("project", "hooked");
    await plant(machine);
    const untrusted = await machine.run(["run", "hi"]);
    expect(untrusted).toMatchObject({ code: 0, stderr: expect.stringContaining("tandem trust --folder") });
    expect(existsSync(hooked)).toBe(false);

    const { stdout } = await machine.run(["trust", "--folder"]);
    expect(stdout).toContain(".claude/settings.json");
    expect(await machine.run(["run", "hi"])).toMatchObject({ code: 0 });
    expect(existsSync(hooked)).toBe(true);
  });

  test("applies to the folder's current content: a change needs new trust, and revoking works", async () => {
    await using machine = await sessionMachine([]);
    const listed = async () => JSON.parse((await machine.run(["trust", "--list", "--json"])).stdout) as object;
    await plant(machine);
    await machine.run(["trust", "--folder"]);
    const folder = await realpath(machine.folder.join("project"));
    expect(await listed()).toMatchObject({ folders: [{ folder, state: "trusted", by: "user" }] });
    await put(machine, ".claude/hooks/more.sh", "evil");
    expect(await listed()).toMatchObject({ folders: [{ folder, state: "changed" }] });
    await machine.run(["trust", "--folder", "--revoke"]);
    expect(await listed()).toEqual({ folders: [] });
  });

  test("is stored in a private file, apart from the trust in tandem.yaml", async () => {
    await using machine = await sessionMachine([]);
    await plant(machine);
    await machine.run(["trust", "--folder"]);
    const file = join(machine.folder.join("home"), ".tandem", "trusted-folders.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ version: 1 });
    await machine.run(["trust", "--revoke"]);
    expect(JSON.parse((await machine.run(["trust", "--list", "--json"])).stdout)).toMatchObject({
      folders: [{ state: "trusted" }],
    });
  });

  test("covers a folder without settings until it has some, and rejects a missing folder", async () => {
    await using machine = await sessionMachine([]);
    expect(await stateOf(machine)).toBe("empty");
    expect(await machine.run(["trust", "--folder"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("is trusted.\nIt has no settings, hooks or MCP servers."),
    });
    expect(await stateOf(machine)).toBe("trusted");
    await plant(machine);
    expect(await stateOf(machine)).toBe("changed");
    expect(await machine.run(["trust", "--folder", "nowhere"])).toMatchObject({ code: 2 });
  });
});

describe("by the config", () => {
  test("sessions.trustedFolders trusts a folder regardless of its content and needs trust itself", async () => {
    await using machine = await sessionMachine([], "sessions: { trustedFolders: [.] }\n");
    await plant(machine);
    expect(await stateOf(machine)).toBe("trusted");
    await machine.run(["trust", "--revoke"]);
    expect(await machine.run(["run", "hi"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("sessions.trustedFolders"),
    });
  });

  test("sessions.settings: none loads nothing, trusted or not", async () => {
    await using machine = await sessionMachine([always(text("hello"))], "sessions: { settings: none }\n");
    await plant(machine);
    expect(await stateOf(machine)).toBe("refused");
    await machine.run(["run", "hi"]);
    expect(existsSync(machine.folder.join("project", "hooked"))).toBe(false);
  });

  test.each([
    ["hooks", "hooks: [{ name: x, on: prompt, command: [./evil.sh] }]\n"],
    ["mcpServers", "mcpServers: { x: { command: ./evil.sh } }\n"],
    ["sessions.permissionMode", "sessions: { permissionMode: bypassPermissions }\n"],
  ])("%s of a stranger's tandem.yaml take no effect before trust", async (key, settings) => {
    await using machine = await sessionMachine([], settings);
    await machine.run(["trust", "--revoke"]);
    expect(await machine.run(["run", "hi"])).toMatchObject({ code: 2, stderr: expect.stringContaining(key) });
  });
});

test.skipIf(process.getuid?.() !== 0)("as root, run rejects bypassPermissions and names the fix", async () => {
  await using machine = await sessionMachine([always(text("hello"))]);
  const refused = await machine.run(["run", "--permission-mode", "bypassPermissions", "hi"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/refused for root[\s\S]*IS_SANDBOX=1/) });
  const args = ["run", "--permission-mode", "bypassPermissions", "hi"];
  expect(await machine.run(args, { env: { IS_SANDBOX: "1" } })).toMatchObject({ code: 0 });
});
