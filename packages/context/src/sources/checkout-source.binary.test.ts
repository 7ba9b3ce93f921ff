import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, it } from "vitest";
import { checkoutSource } from "./checkout-source.ts";
import { openSource, type SourceConfig } from "./open-source.ts";

let home: string;
let repository: string;
beforeEach(async () => {
  home = await scratchFolder();
  repository = join(home, "repository");
  await mkdir(join(repository, "analytics", "models"), { recursive: true });
  await writeFile(join(repository, "README.md"), "# Shop\n");
  await writeFile(join(repository, "analytics", "dbt_project.yml"), "name: shop\nversion: '1'\n");
  await writeFile(join(repository, "analytics", "models", "orders.sql"), "select * from raw_orders\n");
  await writeFile(
    join(repository, "analytics", "models", "schema.yml"),
    "models:\n  - name: orders\n    description: One row per order.\n",
  );
  await symlink("/etc/passwd", join(repository, "leak.md"));
  await run("init", "--quiet", "--initial-branch=main");
  await run("add", "-A");
  await run("commit", "--quiet", "-m", "First");
});

const run = (...args: string[]) =>
  promisify(execFile)("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd: repository });
const options = () => ({ cache: join(home, "cache"), variables: { HOME: home } });
const open = (config: Partial<SourceConfig>) =>
  openSource(
    "models",
    { type: "dbt", git: `file://${repository}`, ...config },
    {
      root: home,
      maxFileMb: 20,
      access: {
        connect: () => Promise.reject(new Error("none")),
        checkout: ({ git, branch }) => checkoutSource({ url: git!, branch }, options()),
      },
    },
  );
const pathsOf = async (config: Partial<SourceConfig>) => {
  const found: string[] = [];
  for await (const entry of open(config).list()) if (entry.type === "item") found.push(entry.item.path);
  return found;
};

it("reads a dbt project in a folder of a repository, follows new commits and other branches", async () => {
  expect(await pathsOf({ path: "analytics" })).toEqual(["models/orders"].map((path) => expect.stringContaining(path)));
  await writeFile(join(repository, "analytics", "models", "customers.sql"), "select 1 as id\n");
  await run("checkout", "--quiet", "-b", "next/models");
  await run("add", "-A");
  await run("commit", "--quiet", "-m", "Second");
  expect(await pathsOf({ path: "analytics", branch: "main" })).toHaveLength(1);
  expect(await pathsOf({ path: "analytics", branch: "next/models" })).toHaveLength(2);
  expect(await pathsOf({ path: "analytics" })).toHaveLength(2);
  await expect(pathsOf({ path: "../.." })).rejects.toMatchObject({ code: "config_invalid" });
});

it("runs no hooks and follows no links of the repository", async () => {
  const folder = await checkoutSource({ url: `file://${repository}` }, options());
  expect(await readFile(join(folder, "leak.md"), "utf8")).toBe("/etc/passwd");
  await writeFile(join(folder, ".git", "hooks", "post-checkout"), `#!/bin/sh\ntouch ${home}/ran\n`, { mode: 0o755 });
  await run("commit", "--quiet", "--allow-empty", "-m", "Third");
  await checkoutSource({ url: `file://${repository}` }, options());
  expect(await readdir(home)).not.toContain("ran");
});

it.each([
  ["ext::sh -c touch% /tmp/x", undefined],
  ["--upload-pack=touch /tmp/x", undefined],
  ["git://example.com/x", undefined],
  ["http://example.com/x", undefined],
  ["https://ada:secret@example.com/x", undefined],
  ["OURS", "--upload-pack=x"],
  ["OURS", "a..b"],
])("refuses %s with branch %s", async (url, branch) => {
  const ours = `file://${repository}`;
  await expect(checkoutSource({ url: url === "OURS" ? ours : url, branch }, options())).rejects.toMatchObject({
    code: expect.stringMatching(/invalid/),
  });
});

it("names a repository or branch that is not there", async () => {
  await expect(checkoutSource({ url: `file://${home}/nowhere` }, options())).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("could not be fetched"),
  });
  await expect(checkoutSource({ url: `file://${repository}`, branch: "gone" }, options())).rejects.toMatchObject({
    code: "source_missing",
  });
});
