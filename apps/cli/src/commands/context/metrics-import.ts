import type { ProjectImport } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import type { OpenedContext } from "@tandem/tandem/context";
import { type Command, Option } from "commander";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { describeImport } from "../../metrics/describe-import.ts";
import { Progress } from "../../progress.ts";
import { printable, styleFor, write, writeJson, writeResult } from "../../terminal.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import { collect, type Registration } from "../registration.ts";

const IMPORT_FORMATS = ["dbt", "ossie", "ktx"] as const satisfies readonly ProjectImport["format"][];
const EXPORT_FORMATS = ["ossie", "metricflow"] as const;

/** `tandem metrics import` and `export`. */
export function registerImport(
  sub: (name: string, description: string) => Command,
  { examples, json, runner }: Registration,
): void {
  examples(
    sub("import", "Propose the metrics of a dbt, Apache Ossie or KTX project. Lists what it leaves out, and why.")
      .argument("<path>", "folder or file of the project")
      .addOption(new Option("--from <format>", "format of the project (default: detected)").choices(IMPORT_FORMATS))
      .option("--connection <name>", "database of the project's tables (default: the only connection)")
      .option("--table <name=schema.table>", "which table the project means by a name (repeatable)", collect)
      .option("--dry-run", "only print what would be proposed")
      .addOption(json())
      .action(runner(importProject)),
    "tandem metrics import ../analytics --dry-run",
    "tandem metrics import target/semantic_manifest.json --connection shop",
    "tandem metrics import shop.yaml --from ossie --table prod.orders=main.orders",
  );
  examples(
    sub("export", "Write the metrics of a connection in another format. Lists what the format cannot hold.")
      .addOption(new Option("--to <format>", "format to write").choices(EXPORT_FORMATS).makeOptionMandatory())
      .option("--connection <name>", "connection of the metrics (default: the only one)")
      .option("--out <file>", "file to write (default: standard output)")
      .addOption(json())
      .action(runner(exportMetrics)),
    "tandem metrics export --to ossie --out shop.ossie.yaml",
    "tandem metrics export --to metricflow --connection shop",
  );
}

interface ImportOptions {
  from?: ProjectImport["format"];
  connection?: string;
  table?: string[];
  dryRun?: boolean;
}

interface ExportOptions {
  to: (typeof EXPORT_FORMATS)[number];
  connection?: string;
  out?: string;
}

async function importProject(invocation: Invocation, path: string, options: ImportOptions): Promise<void> {
  const result = await withKnowledge(invocation, "metrics import", async (knowledge): Promise<ProjectImport> => {
    using _ = new Progress(invocation, "Reading the project …");
    return knowledge.metrics.importProject(knowledge.context.proposals, {
      root: resolve(invocation.cwd, path),
      connection: onlyConnection(knowledge, options.connection),
      tableNames: new Map((options.table ?? []).map(readTable)),
      dryRun: options.dryRun ?? false,
      signal: invocation.signal,
      ...(options.from && { format: options.from }),
    });
  });
  const lines = describeImport(styleFor(invocation.stdout), result, { dryRun: options.dryRun ?? false });
  await writeResult(invocation, result, lines);
}

function readTable(text: string): [string, string] {
  const [, name, table] = /^([^=]+)=([^=]+\.[^=]+)$/.exec(text) ?? [];
  if (name !== undefined && table !== undefined) return [name.trim(), table.trim()];
  throw new TandemError("usage", `--table ${text} is not understood.`, {
    fix: "Write the project's name and the catalogue's table: --table prod.orders=main.orders",
  });
}

function onlyConnection({ connections }: OpenedContext, given: string | undefined): string {
  if (given !== undefined) return given;
  const [first, second] = connections;
  if (first && !second) return first.name;
  throw new TandemError("usage", "The project has several connections.", {
    fix: `Name one: --connection ${connections.map(({ name }) => name).join(" or --connection ")}`,
  });
}

async function exportMetrics(invocation: Invocation, { to, connection, out }: ExportOptions): Promise<void> {
  const { document, notHeld } = await withKnowledge(invocation, "metrics export", (knowledge) =>
    knowledge.metrics.exportTo(to, onlyConnection(knowledge, connection)),
  );
  const { stringify } = await import("yaml");
  const text = stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
  if (out !== undefined) await writeFile(resolve(invocation.cwd, out), text);
  if (invocation.json) {
    return writeJson(invocation.stdout, { document, not_held: notHeld });
  }
  if (out === undefined) await write(invocation.stdout, text);
  const { warn, dim } = styleFor(invocation.stderr);
  // On stderr, so that a pipe gets only the document.
  for (const { item, reason } of notHeld) {
    await write(invocation.stderr, `${warn("not held")}: ${printable(item)} ${dim(printable(reason))}\n`);
  }
  if (out !== undefined) await write(invocation.stdout, `Wrote ${printable(out)}.\n`);
}
