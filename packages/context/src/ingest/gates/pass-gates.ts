import { TandemError } from "@tandem/protocol";
import { describeProblem, type FileProblem } from "../../formats/file-problem.ts";
import { pageKeyOf, readPage } from "../../wiki/page-file.ts";
import { repairFile } from "../repair/repair-file.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import type { Pages } from "../workbench/pages.ts";
import { checkPages, checkText, type Knowledge } from "./check-pages.ts";

const STAGE = "gates";

/**
 * Checks everything that a run has changed, lets an agent fix failures, and reverts and lists what cannot be fixed.
 * Reverting one page may break another, so checks repeat until nothing fails.
 */
export async function passGates(
  line: IngestLine,
  pages: Pages,
  knowledge: Knowledge,
): Promise<{ checked: number; mended: number; dropped: number }> {
  const { run, prefix } = line;
  const counts = { checked: pages.changes.length, mended: 0, dropped: 0 };
  if (counts.checked === 0) return counts;
  run.emit({ type: "stage_started", stage: STAGE, total: counts.checked });
  let mayRepair = true;
  for (;;) {
    const failing = await checkPages(
      pages,
      pages.changes.map(({ path }) => path),
      knowledge,
    );
    if (failing.size === 0) break;
    for (const [path, problems] of failing) {
      const text = mayRepair ? await repair(line, pages, path, problems, knowledge) : undefined;
      if (text !== undefined) {
        pages.set(path, text, `${prefix}repair`, removedBasis(pages));
        counts.mended += 1;
        continue;
      }
      counts.dropped += 1;
      run.skip(
        STAGE,
        `${prefix}${path}`,
        new TandemError(
          "gate_failed",
          `${path} did not pass its checks and was skipped: ${describeProblem(problems[0]!)}`,
        ),
      );
      takeBack(pages, path);
    }
    mayRepair = false;
  }
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return counts;
}

function repair(
  line: IngestLine,
  pages: Pages,
  path: string,
  problems: readonly FileProblem[],
  knowledge: Knowledge,
): Promise<string | undefined> {
  return repairFile(line, {
    path,
    text: pages.read(path),
    task: problems.map(describeProblem).join("\n"),
    problemsOf: (text) => checkText(pages, path, text, knowledge),
  });
}

/** The reason for removed pages is also the reason for removed refs to them. */
const removedBasis = (pages: Pages): string[] =>
  pages.changes.filter(({ after }) => after === null).flatMap(({ basis }) => basis);

/** An unchanged page fails only because of a removed page: restore that one. */
function takeBack(pages: Pages, path: string): void {
  if (pages.changes.some((change) => change.path === path)) {
    pages.restore(path);
    return;
  }
  const refs = readPage(path, pages.read(path))?.refs ?? [];
  for (const change of pages.changes) {
    if (change.after === null && refs.includes(`page:${pageKeyOf(change.path)}`)) pages.restore(change.path);
  }
}
