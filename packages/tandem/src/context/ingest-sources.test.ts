import { configSchema } from "@tandem/protocol";
import { mkdir, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Project } from "../config/load-project.ts";
import { testFolder } from "../testing/test-folder.ts";
import { ingestSources } from "./ingest-sources.ts";

test("a single file is identified by its path, and a missing file does not fail the others", async () => {
  await using home = await testFolder();
  for (const folder of ["project", "project/a", "project/b", "outside"]) await mkdir(home.join(folder));
  for (const file of ["project/a/readme.md", "project/b/readme.md", "outside/readme.md"]) {
    await writeFile(home.join(file), file);
  }
  const project = {
    config: configSchema.parse({}),
    folder: home.join("project"),
    displayPath: "tandem.yaml",
  } as Project;
  const files = ["project/a/readme.md", "project/gone.md", "project/b", "outside/readme.md"].map((file) =>
    home.join(file),
  );
  const { sources } = await ingestSources(project, { names: [], files });
  const found: string[] = [];
  for await (const entry of sources[0]!.list()) {
    found.push(entry.type === "item" ? entry.item.path : `${entry.type}: ${entry.path}`);
  }
  expect(found).toEqual(["a/readme.md", "skipped: gone.md", "b/readme.md", home.join("outside/readme.md")]);
});
