import { RequestError, type SamplesConfig } from "@tandem/protocol";
import type { JobStore, Records, SearchIndex } from "@tandem/storage";
import type { ContextFolder, FileChange } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { SamplePolicy } from "../privacy/sample-policy.ts";
import { ScrubbedHistory } from "./scrub-history.ts";
import { renameCommits, scrubProposals, scrubSteps } from "./scrub-records.ts";
import { type ScrubRule, scrubTable } from "./scrub-table.ts";

export interface ScrubSettings {
  context: { id: string; folder: ContextFolder; search: { sync(): Promise<unknown> } };
  store: { records: Records; jobs: Pick<JobStore, "list">; search: Pick<SearchIndex, "eraseDeleted"> };
  samples: SamplesConfig;
  /** Remove the values of every column. */
  isForAll: boolean;
  /** Also rewrite the git history. */
  history?: { git: "own" | "project"; bundles: string; force: boolean };
  /** False: a dry run. */
  apply: boolean;
}

export interface ScrubReport {
  applied: boolean;
  /** Tables that lose values, with the columns. */
  tables: { path: string; columns: string[] }[];
  /** Proposals with lines that contain such values. */
  proposals: number;
  /** Cached answers of models. */
  cachedSteps: number;
  /** Null without `history`. */
  history: {
    commits: number;
    changed: number;
    remotes: readonly string[];
    /** Of a performed rewrite. The bundle contains the old values. */
    done: { bundle: string; restore: string; objects: number; left: number } | null;
  } | null;
}

/** Removes values from an existing context that `scan.samples` and the detection of personal data do not allow. */
export function scrubContext(settings: ScrubSettings): Promise<ScrubReport> {
  return settings.context.folder.exclusive(() => scrub(settings));
}

async function scrub({ context, store, samples, isForAll, history, apply }: ScrubSettings): Promise<ScrubReport> {
  const { id: space, folder, search } = context;
  const rule: ScrubRule = { policy: new SamplePolicy(samples), isForAll };
  const place = { records: store.records, space };
  if (apply) await requireNoJobs(store.jobs, space);
  await folder.head();
  if (history?.git === "project") {
    throw new RequestError("not_supported", "The context's history is part of the project's repository.", {
      fix: "Scrub without --history, then rewrite the project's branches and refs/tandem/context with git filter-repo.",
    });
  }
  const old = history && (await ScrubbedHistory.open(folder.path, rule, history));
  const plan = await old?.plan();
  const { tables, changes } = await planFiles(folder, rule);
  const report: ScrubReport = {
    applied: apply,
    tables,
    proposals: await scrubProposals(place, rule, false),
    cachedSteps: await scrubSteps(place, rule, false),
    history:
      old && plan ? { commits: plan.commits.length, changed: plan.changed, remotes: old.remotes, done: null } : null,
  };
  if (!apply) return report;
  const bundle = old && (await old.backUp(history.bundles, bundleName(space)));
  await folder.commit(changes, { subject: "Scrub samples", body: "Removes values that may not be stored." });
  await search.sync();
  await store.search.eraseDeleted();
  await scrubProposals(place, rule, true);
  await scrubSteps(place, rule, true);
  if (!old || bundle === undefined) return report;
  // The branch has moved by our commit.
  const current = await ScrubbedHistory.open(folder.path, rule, history);
  await current.rewrite((renamed) => renameCommits(place, renamed));
  await folder.head();
  const restore = `git -C ${quoted(folder.path)} fetch --update-head-ok ${quoted(bundle)} "+refs/*:refs/*" && git -C ${quoted(folder.path)} reset --hard`;
  return { ...report, history: { ...report.history!, done: { bundle, restore, ...(await current.verify()) } } };
}

async function planFiles(folder: ContextFolder, rule: ScrubRule) {
  const tables: ScrubReport["tables"] = [];
  const changes: FileChange[] = [];
  for (const path of await folder.list("catalogue/")) {
    const expected = await folder.read(path).catch(leftAlone);
    if (expected === undefined) continue;
    const { text, columns } = scrubTable(expected, rule);
    if (text === expected) continue;
    tables.push({ path, columns });
    changes.push({ path, expected, content: text });
  }
  return { tables, changes };
}

/** A running job has read values and commits that would not exist any more. */
async function requireNoJobs(jobs: ScrubSettings["store"]["jobs"], space: string): Promise<void> {
  const { data } = await jobs.list({ space, states: ["queued", "running"], limit: 1 });
  const [job] = data;
  if (!job) return;
  throw new RequestError("conflict", `The job ${job.id} (${job.kind}) is ${job.state}.`, {
    fix: `Wait until it ends, or cancel it: tandem context jobs cancel ${job.id}`,
  });
}

const bundleName = (space: string): string => `${space}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}.bundle`;
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
