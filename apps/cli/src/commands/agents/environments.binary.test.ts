import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

test("a self-hosted environment and the keys of its workers", async () => {
  await using machine = await scratchMachine();
  const run = async (...args: string[]) => machine.run(["environments", ...args]);
  const created = await run("create", "build-machines");
  const id = created.stdout.trim();
  expect(id).toMatch(/^env_/);
  const key = await run("keys", "create", "build-machines", "--name", "rack-1");
  expect(key.stdout).toMatch(/^sk-ant-oat01-[\w-]{64}\n$/);
  const [, token] = /(tok_\w+) of/.exec(key.stderr) ?? [];
  const listed = await run("keys", "list", id);
  expect(listed.stdout).toMatch(/tok_\w+ +rack-1 .*never used/);
  expect(listed.stdout).not.toContain("sk-ant");
  const shown = JSON.parse((await run("show", id, "--json")).stdout) as object;
  expect(shown).toMatchObject({ config: { type: "self_hosted" }, work: { depth: 0, workers_polling: 0 } });
  expect((await machine.run(["tokens", "list"])).stdout).not.toContain("rack-1");
  expect((await run("keys", "revoke", id, token!)).stdout).toContain("is revoked");
  expect((await run("keys", "list", id)).stdout).toContain("No keys");
  const refused = await run("keys", "create", "env_local");
  expect(refused.stderr).toContain("not self-hosted");
});
