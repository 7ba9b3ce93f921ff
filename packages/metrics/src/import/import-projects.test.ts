import { DatabaseSync } from "node:sqlite";
import { stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { exportMetricFlow } from "../export/export-metricflow.ts";
import { exportOssie } from "../export/export-ossie.ts";
import { buildModel } from "../build/build-model.ts";
import type { MetricsFile } from "../model/metrics-file.ts";
import { checkModelOf } from "../testing/scenarios/check-world.ts";
import { prepare } from "../testing/scenarios/scenario.ts";
import { importMetrics, type ImportResult } from "./import-metrics.ts";
import { DBT_BILLING } from "./testing/projects/dbt-billing.ts";
import { DBT_INVENTORY } from "./testing/projects/dbt-inventory.ts";
import { DBT_SALES } from "./testing/projects/dbt-sales.ts";
import { KTX_LOGISTICS, KTX_SALES, OSSIE_BILLING } from "./testing/projects/others.ts";
import type { Project } from "./testing/projects/project.ts";

const PROJECTS = [DBT_BILLING, DBT_INVENTORY, DBT_SALES, OSSIE_BILLING, KTX_LOGISTICS, KTX_SALES];

const filesOf = ({ files }: ImportResult): MetricsFile[] => files.map(({ file }) => file);

async function problemsOf(project: Project, files: readonly MetricsFile[], usable?: ReadonlySet<string>) {
  using database = new DatabaseSync(":memory:");
  const { setup, tables } = prepare(project.world, "sqlite", "main");
  for (const statement of setup) database.exec(statement);
  const model = buildModel({ dialect: "sqlite", files, tables });
  const scenarios = project.scenarios.filter(({ query }) =>
    (query as { metrics: string[] }).metrics.every((name) => usable?.has(name) ?? true),
  );
  return await checkModelOf({ name: project.name, scenarios }, model, "main", async (sql) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement.all() as unknown as unknown[][];
  });
}

describe.each(PROJECTS)("$name", (project) => {
  const { format, texts, world, unmapped, asked = [] } = project;
  const { tables } = prepare(world, "sqlite", "main");

  test("gives the numbers of hand-written SQL, and lists the rest", async () => {
    const imported = await importMetrics({ format, texts, dialect: "sqlite", tables });
    expect(imported.unmapped.map(({ item }) => item).toSorted()).toEqual(unmapped.toSorted());
    expect(imported.asked.map(({ item }) => item)).toEqual(asked);
    expect(await problemsOf(project, filesOf(imported))).toEqual([]);
  });

  test.each(["dbt", "ossie"] as const)("answers the same after an export to %s and an import", async (to) => {
    const files = filesOf(await importMetrics({ format, texts, dialect: "sqlite", tables }));
    const model = buildModel({ dialect: "sqlite", files, tables });
    const { document, notHeld } = to === "dbt" ? exportMetricFlow(files, model) : exportOssie("again", files, model);
    const exported = [{ path: "export.yml", text: stringify(document, { aliasDuplicateObjects: false }) }];
    const again = await importMetrics({ format: to, texts: exported, dialect: "sqlite", tables });
    expect(again.unmapped).toEqual([]);
    expect(again.asked).toEqual([]);
    const lost = new Set(notHeld.map(({ item }) => item));
    const held = new Set([...model.metrics.keys()].filter((name) => !lost.has(`metric ${name}`)));
    // Times and segments are no part of Ossie.
    const isHeld = ({ query }: Project["scenarios"][number]): boolean => !/time|segments/.test(JSON.stringify(query));
    const kept = {
      ...project,
      scenarios:
        to === "ossie"
          ? project.scenarios.filter(isHeld)
          : project.scenarios.filter(({ query }) => !("segments" in query)),
    };
    expect(await problemsOf(kept, filesOf(again), held)).toEqual([]);
  });
});
