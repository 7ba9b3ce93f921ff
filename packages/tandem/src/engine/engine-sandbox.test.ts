import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { configSchema } from "@tandem/protocol";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import { engineSandbox } from "./engine-sandbox.ts";

let root: string;
let env: Record<string, string>;
beforeEach(async () => {
  root = await scratchFolder();
  env = { HOME: join(root, "home"), TANDEM_HOME: join(root, "home/.tandem"), SSH_AUTH_SOCK: "/run/agent.sock" };
  for (const folder of ["home/.tandem/tokens", "home/.cargo", "data"])
    mkdirSync(join(root, folder), { recursive: true });
});

const settings = (sandbox: unknown) =>
  engineSandbox(env, configSchema.parse({ sandbox }).sandbox, async (reference) => `value of ${reference}`);

test("paths in the home become absolute, and secrets readable", async () => {
  const { mounts, services, credentials, sshAgent } = settings({
    mounts: [{ path: "~/.cargo" }],
    services: [{ port: 5432 }],
    credentials: [{ host: "a.example", header: "Authorization", value: "env:TOKEN" }],
    sshAgent: true,
  });
  expect(mounts).toEqual([{ path: join(root, "home/.cargo"), write: false }]);
  expect(services).toEqual([{ port: 5432, to: 5432 }]);
  expect(credentials).toMatchObject([{ host: "a.example", place: { type: "header", name: "Authorization" } }]);
  expect(await credentials?.[0]?.value()).toBe("value of env:TOKEN");
  expect(sshAgent).toBe("/run/agent.sock");
  expect(settings({}).sshAgent).toBeUndefined();
});

test("no mount shows the home or Tandem's folder, also not through a link", () => {
  symlinkSync(join(root, "home/.tandem/tokens"), join(root, "data/link"));
  const attempt = (path: string) => () => settings({ mounts: [{ path }] });
  expect(attempt(join(root, "home"))).toThrow("whole home");
  expect(attempt(root)).toThrow("cannot be mounted");
  expect(attempt("~/.tandem")).toThrow("Tandem's own folder");
  expect(attempt(join(root, "home/.tandem/tokens"))).toThrow("Tandem's own folder");
  expect(attempt(join(root, "data/link"))).toThrow("Tandem's own folder");
  expect(attempt(join(root, "data"))).not.toThrow();
  env["TANDEM_TRUST_HOME"] = join(root, "data");
  expect(attempt(join(root, "data"))).toThrow("Tandem's own folder");
});
