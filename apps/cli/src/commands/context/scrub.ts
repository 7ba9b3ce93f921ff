import { scrubContext, type ScrubReport } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { ensureTandemHome } from "@tandem/tandem/config";
import type { Command } from "commander";
import { join } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { Progress } from "../../progress.ts";
import { printable, styleFor, table, writeResult } from "../../terminal.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .option("--all", "remove the values of every column, also of allowed ones")
      .option("--history", "also rewrite the git history of the context, after a backup")
      .option("--force", "rewrite the history although the repository has a remote")
      .option("--yes", "do it (default: only print what would change)")
      .addOption(json())
      .action(runner(scrub)),
    "tandem context scrub",
    "tandem context scrub --yes",
    "tandem context scrub --history --yes",
  );
}

export interface ScrubOptions {
  all?: boolean;
  history?: boolean;
  force?: boolean;
  yes?: boolean;
}

export async function scrub(invocation: Invocation, options: ScrubOptions): Promise<void> {
  const { all = false, history = false, force = false, yes = false } = options;
  if (force && !history)
    throw new TandemError("usage", "--force has no effect without --history.", { fix: "Add --history, or omit it." });
  const bundles = join(await ensureTandemHome(invocation.env), "scrub-backups");
  const report = await withKnowledge(invocation, "tandem context scrub", async ({ context }, { project, store }) => {
    using _ = new Progress(invocation, yes ? "Removing values …" : "Looking for values …");
    const { config } = project;
    return scrubContext({
      context,
      store,
      samples: config.scan.samples,
      isForAll: all,
      ...(history && { history: { git: config.context.git, bundles, force } }),
      apply: yes,
    });
  });
  await writeResult(invocation, report, describeScrub(invocation, report));
}

const TABLES_SHOWN = 20;

function describeScrub({ stdout }: Pick<Invocation, "stdout">, report: ScrubReport): string[] {
  const { bold, dim, good, warn } = styleFor(stdout);
  const { tables, proposals, cachedSteps, history, applied } = report;
  const columns = tables.reduce((sum, each) => sum + each.columns.length, 0);
  const isEmpty = tables.length === 0 && proposals === 0 && (history?.changed ?? 0) === 0;
  if (isEmpty) return [`${good("Nothing to remove.")} The context has no values that scan.samples does not allow.`];
  const rows = [
    [dim("catalogue"), `${columns} columns of ${tables.length} tables, and their entries in the search index`],
    [dim("proposals"), String(proposals)],
    [dim("cached answers"), String(cachedSteps)],
    ...(history ? [[dim("history"), `${history.changed} of ${history.commits} commits`]] : []),
  ];
  const lines = [
    bold(applied ? "Removed values from:" : "Would remove values from:"),
    ...table(rows.map(([what, text]) => [`  ${what}`, text!])),
    ...tables
      .slice(0, TABLES_SHOWN)
      .map(({ path, columns: names }) => `    ${printable(path)}${dim(":")} ${printable(names.join(", "))}`),
    ...(tables.length > TABLES_SHOWN ? [`    … and ${tables.length - TABLES_SHOWN} more: --json lists them all`] : []),
  ];
  if (!applied) {
    const flags = history ? "with the same options and --yes" : "with --yes";
    return [
      ...lines,
      dim(`Nothing was changed. Run it again ${flags}.`),
      ...(history ? [] : [dim("The git history keeps old values: --history rewrites it.")]),
    ];
  }
  const done = history?.done;
  if (!done) return [...lines, dim("The git history keeps the old values: tandem context scrub --history")];
  return [
    ...lines,
    done.left === 0
      ? `${good("Verified:")} none of the ${done.objects} objects of the repository contains such a value.`
      : warn(`${done.left} of ${done.objects} objects still contain such values: other files or refs hold them.`),
    warn(`The backup still contains the old values: ${printable(done.bundle)}`),
    `  ${dim("to undo")}  ${printable(done.restore)}`,
    `  ${dim("if sure")}  rm ${printable(done.bundle)}`,
    ...history.remotes.map((remote) =>
      warn(`The remote ${printable(remote)} still has the old history: push with --force, and let others clone again.`),
    ),
  ];
}
