import type { DatabaseSync } from "node:sqlite";
import { metricQuery } from "@tandem/protocol";
import { compileQuery } from "../../compile-query.ts";
import { buildModel } from "../../build/build-model.ts";
import type { Cell } from "../../testing/scenarios/scenario.ts";
import { NOW, openShop, SHOP_TABLES } from "../../testing/shop.ts";
import { importMetrics, type ImportResult } from "../import-metrics.ts";
import type { ImportFormat, SourceText } from "../imported-project.ts";
import type { ExistingFile } from "../merge-file.ts";

export const importShop = (
  format: ImportFormat,
  texts: readonly SourceText[],
  existing: readonly ExistingFile[] = [],
): Promise<ImportResult> => importMetrics({ format, texts, existing, dialect: "sqlite", tables: SHOP_TABLES });

/** Asks imported metrics about the shop. */
export function askImported({ files }: ImportResult, query: object): Cell[][] {
  const model = buildModel({ dialect: "sqlite", files: files.map(({ file }) => file), tables: SHOP_TABLES });
  return rowsOf(compileQuery(model, metricQuery.parse(query), NOW).sql);
}

/** Rows of hand-written SQL on the shop. */
export function rowsOf(sql: string, open: () => DatabaseSync = openShop): Cell[][] {
  const database = open();
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const rows = statement.all() as unknown as Cell[][];
  database.close();
  return rows;
}
