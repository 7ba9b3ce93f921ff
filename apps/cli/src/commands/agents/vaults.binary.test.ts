import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const SECRET = "s3cr3t-of-the-command-line";

test("tandem vaults: create, add, show, replace, archive and delete; secrets are never printed or stored", async () => {
  await using machine = await sessionMachine([]);
  const run = async (args: string[], options: { stdin?: string; env?: Record<string, string> } = {}) => {
    const outcome = await machine.run(["vaults", ...args], options);
    expect(outcome.stdout + outcome.stderr).not.toContain(SECRET);
    return outcome;
  };
  expect((await run(["list"])).stdout).toContain("No vaults");
  const vault = (await run(["create", "team"])).stdout.trim();
  expect(vault).toMatch(/^vlt_/);
  expect((await run(["list"])).stdout).toContain("team");

  const server = "https://mcp.example.com/mcp";
  const piped = await run(["add", "team", "--server", server, "--name", "Example"], { stdin: `${SECRET}\n` });
  expect(piped).toMatchObject({ code: 0, stderr: "" });
  await machine.run(["agents", "add", "--name", "greeter", "--model", "sonnet"]);
  const deployed = await machine.run([
    "deployments",
    "create",
    "Greet.",
    "--name",
    "greet",
    "--agent",
    "greeter",
    "--vault",
    "team",
    "--json",
  ]);
  expect(JSON.parse(deployed.stdout)).toMatchObject({ vault_ids: [vault] });
  const named = await run(
    ["add", vault, "--variable", "API_KEY", "--host", "api.example.com", "--secret-env", "MY_KEY", "--json"],
    { env: { MY_KEY: SECRET } },
  );
  expect(JSON.parse(named.stdout)).toMatchObject({ auth: { secret_name: "API_KEY" }, tandem: { state: "unverified" } });
  const shown = await run(["show", "team"]);
  expect(shown.stdout).toMatch(/variable +API_KEY/);
  expect(shown.stdout).toMatch(/bearer token +https:\/\/mcp\.example\.com\/mcp +Example +not checked/);

  expect((await run(["add", "team", "--server", server], { stdin: SECRET })).stderr).toContain("has a credential");
  expect((await run(["add", "team", "--server", server], { stdin: "" })).stderr).toContain("The secret is empty");
  expect((await run(["add", "team", "--variable", "B"], { stdin: SECRET })).stderr).toContain("--any-host");
  expect((await run(["add", "team"], { stdin: SECRET })).stderr).toContain("--server URL");
  const unset = await run(["add", "team", "--server", server, "--secret-env", "NOT_SET"]);
  expect(unset.stderr).toContain("NOT_SET is not set");

  expect((await run(["replace", "team", "API_KEY"], { stdin: SECRET })).code).toBe(0);
  expect((await run(["archive", "team", "API_KEY"])).stderr).toContain("--yes");
  expect((await run(["archive", "team", "API_KEY", "--yes"])).stdout).toContain("Archived vcrd_");
  expect((await run(["show", "team"])).stdout).not.toContain("API_KEY");
  expect((await run(["show", "team", "--all"])).stdout).toContain("archived");
  expect((await run(["delete", "team", "--yes"])).stdout).toBe(`Deleted ${vault}.\n`);
  expect((await run(["show", vault])).stderr).toContain("There is no vault");

  const entries = await readdir(machine.folder.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => file.endsWith("secrets.key"))).toBe(true);
  for (const file of files) expect((await readFile(file)).includes(SECRET), file).toBe(false);
});
