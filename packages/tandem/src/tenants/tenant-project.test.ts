import type { TenantRow } from "@tandem/storage";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import type { Host } from "../config/host.ts";
import { openProjectOrDefaults } from "../project/open-project.ts";
import { openTenantProject } from "./tenant-project.ts";

test("a tenant has its own home, and uses this machine's login only on its own machine", async () => {
  const folder = await scratchFolder();
  await mkdir(join(folder, "project"));
  const env = { HOME: folder, TANDEM_HOME: join(folder, ".tandem"), CLAUDE_CONFIG_DIR: join(folder, "claude") };
  const host = { env, cwd: folder, signal: new AbortController().signal } as unknown as Host;
  const project = await openProjectOrDefaults(host);
  const row: TenantRow = { id: "anna", name: "Anna", createdAt: "", archivedAt: null, limits: {}, settings: {} };
  const strange = await openTenantProject({ host, project }, row);
  const home = join(folder, ".tandem", "tenants", "anna");
  expect(strange.host.env).toMatchObject({ HOME: join(home, "home"), CLAUDE_CONFIG_DIR: join(home, "claude") });
  const own = await openTenantProject({ host, project }, row, { isOwn: true });
  expect(own.host.env).toMatchObject({
    HOME: folder,
    CLAUDE_CONFIG_DIR: env.CLAUDE_CONFIG_DIR,
    // Tandem's state of the tenant stays separate.
    TANDEM_HOME: home,
    TMPDIR: join(home, "tmp"),
  });
});
