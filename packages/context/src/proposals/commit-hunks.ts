import { metricsFile } from "@tandem/metrics";
import { RequestError } from "@tandem/protocol";
import { describeProblem, type FileProblem } from "../formats/file-problem.ts";
import type { ContextFolder, FileChange } from "../folder/context-folder.ts";
import { applyHunks } from "./apply-hunks.ts";
import type { Change, Hunk, Proposal } from "./proposal.ts";
import { parseTableFile } from "../catalogue/table-file.ts";
import { parseMemory } from "../formats/memory-file.ts";
import { isMetricsPath } from "../metric-definitions/metrics-path.ts";
import { readYaml } from "../formats/read-yaml.ts";
import { pageKeyOf, parsePage } from "../wiki/page-file.ts";

/** Retries after a race with a person who saves the file. */
const TRIES = 5;

type Outcome = { state: "accepted"; commit: string | undefined } | { state: "conflict"; note: string };

export interface Committed {
  outcomes: Map<string, Outcome>;
  commits: string[];
}

/**
 * Applies hunks to the current files and commits them: a model's text and a person's own text in separate commits, so
 * that line ownership stays known. Hunks that no longer apply become conflicts.
 */
export async function commitHunks(
  folder: ContextFolder,
  proposal: Proposal,
  ids: ReadonlySet<string>,
  by: string,
): Promise<Committed> {
  const committed: Committed = { outcomes: new Map(), commits: [] };
  let { changes } = proposal;
  for (const isWords of [false, true]) {
    const chosen = new Set(
      changes.flatMap(({ hunks, evidence }) =>
        hunks.filter((hunk) => ids.has(hunk.id) && isPersons(hunk, evidence) === isWords).map(({ id }) => id),
      ),
    );
    if (chosen.size === 0) continue;
    const { commit, outcomes } = await commitGroup(folder, proposal, changes, chosen, { by, isWords });
    if (commit !== undefined) committed.commits.push(commit);
    for (const [id, outcome] of outcomes) committed.outcomes.set(id, outcome);
    // The second group applies on top of the first.
    changes = changes.map((change) => ({
      ...change,
      hunks: change.hunks.map((hunk) =>
        outcomes.get(hunk.id)?.state === "accepted" ? { ...hunk, state: "accepted" } : hunk,
      ),
    }));
  }
  return committed;
}

async function commitGroup(
  folder: ContextFolder,
  proposal: Proposal,
  changes: readonly Change[],
  chosen: ReadonlySet<string>,
  { by, isWords }: { by: string; isWords: boolean },
): Promise<{ commit: string | undefined; outcomes: Map<string, Outcome> }> {
  const trailers = { "Tandem-Proposal": proposal.id, "Accepted-By": by, ...(isWords && { "Words-By": by }) };
  for (let tries = 1; ; tries += 1) {
    const outcomes = new Map<string, Outcome>();
    const files: FileChange[] = [];
    for (const change of changes) {
      if (!change.hunks.some(({ id }) => chosen.has(id))) continue;
      const file = await applyTo(folder, change, chosen, outcomes);
      if (file) files.push(file);
    }
    if (files.length === 0) return { commit: undefined, outcomes };
    try {
      const commit = await folder.commit(files, { subject: proposal.title, body: proposal.summary, trailers });
      const done = [...outcomes].map(([id, outcome]): [string, Outcome] =>
        outcome.state === "accepted" && outcome.commit === PLACED ? [id, { ...outcome, commit }] : [id, outcome],
      );
      return { commit, outcomes: new Map(done) };
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "conflict" || tries === TRIES) throw error;
    }
  }
}

/** Placeholder until the commit id is known. */
const PLACED = "placed";

async function applyTo(
  folder: ContextFolder,
  change: Change,
  chosen: ReadonlySet<string>,
  outcomes: Map<string, Outcome>,
): Promise<FileChange | undefined> {
  const { path } = change;
  const current = (await folder.read(path)) ?? null;
  const applied = applyHunks(change, chosen, current);
  // Do not break a valid file; an already broken one is left to its author.
  const problem = applied.text === null || applied.text === current ? undefined : checkFile(path, applied.text)[0];
  for (const [id, outcome] of applied.outcomes) {
    if (outcome === "conflict") {
      outcomes.set(id, { state: "conflict", note: `${path} has changed since at this place.` });
    } else if (problem && outcome === "applied") {
      const note = `${path} could not be read with it, without the hunks beside it. ${describeProblem(problem)}`;
      outcomes.set(id, { state: "conflict", note });
    } else {
      outcomes.set(id, { state: "accepted", commit: outcome === "applied" ? PLACED : undefined });
    }
  }
  if (problem || applied.text === current) return undefined;
  return { path, expected: current, content: applied.text };
}

/** Whether everything it adds is a person's own text. */
function isPersons(hunk: Hunk, evidence: Change["evidence"]): boolean {
  const said = (places: readonly number[]) => places.some((place) => evidence[place]?.type === "person");
  const lines = hunk.support.filter((_, index) => hunk.newLines[index]!.trim() !== "");
  return lines.length > 0 ? lines.every(said) : said(hunk.removal);
}

/** Problems that make a file invalid for its kind. */
function checkFile(path: string, text: string): FileProblem[] {
  const key = pageKeyOf(path);
  const parsed = path.startsWith("catalogue/")
    ? parseTableFile(text)
    : key !== undefined
      ? parsePage(key, text)
      : path.startsWith("memory/")
        ? parseMemory(text)
        : isMetricsPath(path)
          ? readYaml(text, metricsFile)
          : { success: true as const };
  return parsed.success ? [] : parsed.problems;
}
