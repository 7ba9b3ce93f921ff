import { recordPages, type Records } from "@tandem/storage";
import { ProposalRecords } from "../proposals/proposal-records.ts";
import type { Proposal } from "../proposals/proposal.ts";
import { STEP_KIND } from "../runs/step-cache.ts";
import { scrubProposalChange } from "./scrub-proposal-change.ts";
import type { ScrubRule } from "./scrub-table.ts";

const PAGE = 500;
/** Answers of models that have seen values of a database. */
const STEPS_OF_SCANS = ["description/", "joins/"];

interface RecordSpace {
  records: Records;
  space: string;
}

/** Proposals with lines that contain withheld values. With `apply`, these lines are replaced. */
export async function scrubProposals(place: RecordSpace, rule: ScrubRule, apply: boolean): Promise<number> {
  return updateProposals(place, apply, (proposal) => {
    const paths = new Set<string>();
    const changes = proposal.changes.map((change) => {
      const scrubbed = scrubProposalChange(change, rule);
      if (scrubbed !== change) paths.add(change.path);
      return scrubbed;
    });
    return paths.size > 0 ? { proposal: { ...proposal, changes }, paths } : undefined;
  });
}

/** Points proposals to the rewritten commits, so that they can still be undone. */
export async function renameCommits(place: RecordSpace, renamed: ReadonlyMap<string, string>): Promise<void> {
  const nameOf = (commit: string) => renamed.get(commit) ?? commit;
  await updateProposals(place, true, (proposal) => {
    const paths = new Set<string>();
    const changes = proposal.changes.map((change) => {
      const hunks = change.hunks.map((hunk) => (hunk.commit ? { ...hunk, commit: nameOf(hunk.commit) } : hunk));
      if (hunks.some(({ commit }, at) => commit !== change.hunks[at]!.commit)) paths.add(change.path);
      return { ...change, hunks };
    });
    const { base, commits } = proposal;
    const isNew = paths.size > 0 || renamed.has(base) || commits.some((commit) => renamed.has(commit));
    return isNew
      ? { proposal: { ...proposal, base: nameOf(base), commits: commits.map(nameOf), changes }, paths }
      : undefined;
  });
}

async function updateProposals(
  { records, space }: RecordSpace,
  apply: boolean,
  update: (proposal: Proposal) => { proposal: Proposal; paths: ReadonlySet<string> } | undefined,
): Promise<number> {
  const stored = new ProposalRecords(records, space);
  let changed = 0;
  for (let after: string | undefined; ;) {
    const page = await stored.list({ limit: PAGE, ...(after && { after }) });
    for (const { id } of page) {
      const loaded = await stored.load(id);
      const next = loaded && update(loaded.proposal);
      if (!next) continue;
      changed += 1;
      if (apply) await stored.save({ ...loaded, proposal: next.proposal }, { paths: next.paths });
    }
    if (page.length < PAGE) return changed;
    after = page.at(-1)!.id;
  }
}

/** Cached answers about tables; with `isForAll`, every cached answer. They cost requests only where a description is missing. */
export async function scrubSteps(
  { records, space }: RecordSpace,
  { isForAll }: ScrubRule,
  apply: boolean,
): Promise<number> {
  let count = 0;
  for (const prefix of isForAll ? [""] : STEPS_OF_SCANS) {
    for await (const page of recordPages(records, space, STEP_KIND, { prefix })) {
      count += page.length;
      if (!apply) continue;
      await records.write(
        space,
        page.map(({ key }) => ({ type: "delete", kind: STEP_KIND, key })),
      );
    }
  }
  return count;
}
