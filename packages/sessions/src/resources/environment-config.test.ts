import type { Environment, EnvironmentConfigParams } from "@tandem/protocol";
import { expect, test } from "vitest";
import { changeConfig, checkMcpServers, DEFAULT_CONFIG } from "./environment-config.ts";

const on = async () => ({ on: true });
const off = async () => ({ on: false, reason: "sandbox.mode is off", fix: "Set sandbox.mode to auto." });
const limited = (allowed_hosts: string[]) =>
  ({ type: "cloud", networking: { type: "limited", allowed_hosts } }) as const;

test("limited networking needs the sandbox, and the refusal says why", async () => {
  const config = limited(["example.com", "*.example.org"]);
  expect(await changeConfig(DEFAULT_CONFIG, config, on)).toMatchObject({
    networking: {
      type: "limited",
      allowed_hosts: ["example.com", "*.example.org"],
      allow_mcp_servers: false,
      allow_package_managers: false,
    },
  });
  await expect(changeConfig(DEFAULT_CONFIG, config, off)).rejects.toMatchObject({
    message: expect.stringContaining("sandbox.mode is off"),
    fix: "Set sandbox.mode to auto.",
  });
});

test("an update keeps what it does not name", async () => {
  const before = await changeConfig(DEFAULT_CONFIG, limited(["example.com"]), on);
  const params = { type: "cloud", networking: { type: "limited", allow_package_managers: true } } as const;
  expect(await changeConfig(before, params, on)).toMatchObject({
    networking: { allowed_hosts: ["example.com"], allow_package_managers: true },
  });
  expect(await changeConfig(before, undefined, off)).toEqual(before);
  const opened = { type: "cloud", networking: { type: "unrestricted" } } as const;
  expect(await changeConfig(before, opened, off)).toMatchObject({ networking: { type: "unrestricted" } });
});

test.each(["10.0.0.1", "localhost", "*", "https://example.com", "example.com:8443"])("the host %s is refused", (host) =>
  expect(changeConfig(DEFAULT_CONFIG, limited([host]), on)).rejects.toThrow("allowed_hosts[0]"),
);

test("packages that would change this machine are refused", async () => {
  const wanted = (packages: object) => changeConfig(DEFAULT_CONFIG, { type: "cloud", packages }, on);
  await expect(wanted({ apt: ["curl"] })).rejects.toThrow("change the system of this machine");
  await expect(wanted({ pip: ["numpy"] })).rejects.toThrow("config.packages.pip");
  expect(await wanted({ apt: [], npm: null })).toEqual(DEFAULT_CONFIG);
});

test("packages of npm need the sandbox, and a network that reaches the registry", async () => {
  const npm = ["prettier@^3", "@types/node"];
  const wanted = (packages: object, networking?: object, sandbox: () => Promise<{ on: boolean }> = on) =>
    changeConfig(DEFAULT_CONFIG, { type: "cloud", packages, networking } as EnvironmentConfigParams, sandbox);
  expect(await wanted({ npm })).toMatchObject({ packages: { npm, pip: [] } });
  await expect(wanted({ npm }, undefined, off)).rejects.toThrow("config.packages: only the sandbox");
  await expect(wanted({ npm }, { type: "limited" })).rejects.toThrow("set allow_package_managers");
  expect(await wanted({ npm }, { type: "limited", allow_package_managers: true })).toMatchObject({ packages: { npm } });
  for (const name of [
    "--global",
    "../x",
    "git+https://example.com/x.git",
    "https://example.com/x.tgz",
    "a b",
    "file:x",
  ]) {
    await expect(wanted({ npm: [name] })).rejects.toThrow("config.packages.npm[0]");
  }
});

test("an MCP server must be within the limits of the network", async () => {
  const servers = [{ name: "search", url: "https://mcp.example.com/sse" }];
  const environment = async (config: ReturnType<typeof limited>) =>
    ({ config: await changeConfig(DEFAULT_CONFIG, config, on) }) as Environment;
  const closed = await environment(limited(["example.com"]));
  expect(() => checkMcpServers(closed, servers)).toThrow("does not allow the MCP server search");
  const open = await environment(limited(["*.example.com"]));
  expect(() => checkMcpServers(open, servers)).not.toThrow();
  expect(() => checkMcpServers({ config: DEFAULT_CONFIG } as Environment, servers)).not.toThrow();
});
