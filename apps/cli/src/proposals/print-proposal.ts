import type { Context as Knowledge, HunkFilter, ProposalPage, ProposalSummary } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";
import { styleFor, write, writeJson } from "../terminal.ts";
import { describeGroups } from "./describe-groups.ts";
import { describeProposal } from "./describe-proposal.ts";

const FILES = 50;
/** A proposal with more open hunks is shown by group. */
const HUNKS_SHOWN = 100;

export interface PrintOptions {
  all?: boolean;
  limit?: number | undefined;
  after?: string | undefined;
  filter?: HunkFilter | undefined;
}

/** Prints one page of a proposal, or the groups of a large one unless hunks are selected. */
export async function printProposal(
  invocation: Invocation,
  { proposals }: Knowledge,
  id: string,
  { all = false, limit, after, filter }: PrintOptions = {},
): Promise<void> {
  const { stdout, json } = invocation;
  const query = { limit: limit ?? FILES, ...(after !== undefined && { after }), ...(filter && { filter }) };
  const page = await proposals.page(id, query);
  if (!page) throw unknownProposal(id);
  const { proposal, groups } = page;
  if (json) {
    const isPaged = limit !== undefined || after !== undefined || filter !== undefined;
    const shown = isPaged || page.next === null ? page : { proposal: (await proposals.get(id))!, next: null };
    await writeJson(stdout, { ...shown.proposal, groups, next: shown.next });
    return;
  }
  const head = `${proposal.id}  ${paintState(invocation, proposal)}  ${styleFor(stdout).dim(describeCounts(proposal))}`;
  const isLarge = proposal.counts.open + proposal.counts.conflict > HUNKS_SHOWN;
  const isOverview = isLarge && filter === undefined && after === undefined && !all;
  const lines = isOverview
    ? await overview(stdout, page)
    : [...(await describeProposal(stdout, proposal, { all })), ...continued(stdout, page)];
  await write(stdout, `${[head, ...lines].join("\n")}\n`);
}

export const unknownProposal = (id: string): TandemError =>
  new TandemError("not_found", id === "last" ? "There are no proposals yet." : `There is no proposal ${id}.`, {
    fix: "List them with `tandem context proposals list --all`.",
  });

async function overview(stdout: NodeJS.WriteStream, { proposal, groups }: ProposalPage): Promise<string[]> {
  const { dim } = styleFor(stdout);
  return [
    ...(await describeProposal(stdout, { ...proposal, changes: [] }, { all: false })),
    "",
    ...describeGroups(stdout, groups),
    "",
    dim(`Show the hunks of a group: tandem context proposals show ${proposal.id} --kind KIND --path PATTERN`),
    dim(`Accept them: tandem context proposals accept ${proposal.id} --kind KIND --path PATTERN`),
  ];
}

const continued = (stdout: NodeJS.WriteStream, { next }: ProposalPage): string[] =>
  next === null ? [] : ["", styleFor(stdout).dim(`There are more files. Continue with --after ${next}.`)];

export function paintState({ stdout }: Invocation, { state }: ProposalSummary): string {
  const { good, warn, dim } = styleFor(stdout);
  return (state === "open" ? warn : state === "rejected" ? dim : good)(state);
}

export function describeCounts({ counts, files, decisions }: Omit<ProposalSummary, "title">): string {
  const questions = decisions.filter((item) => item.answer === null).length;
  const parts = [
    ...(["open", "conflict", "accepted", "rejected"] as const)
      .filter((state) => counts[state] > 0)
      .map((state) => `${counts[state]} ${state}`),
    ...(questions > 0 ? [`${questions} ${questions === 1 ? "question" : "questions"}`] : []),
  ];
  return `${parts.join(", ") || "nothing"} in ${files} ${files === 1 ? "file" : "files"}`;
}
