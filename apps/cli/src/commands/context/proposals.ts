import { describeGroups } from "../../proposals/describe-groups.ts";
import type { Context as Knowledge, HunkFilter, Proposal, ProposalSummary } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { userName } from "@tandem/tandem/project";
import { editText } from "../../proposals/edit-text.ts";
import { type FilterOptions, readFilter, withFilterOptions } from "../../proposals/filter-options.ts";
import { describeCounts, paintState, printProposal, unknownProposal } from "../../proposals/print-proposal.ts";
import { readHunkIds } from "../../proposals/read-hunk-ids.ts";
import { ago } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, write, writeJson, writeTable } from "../../terminal.ts";
import { withContext } from "../../with-knowledge.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { PROPOSAL_STATE_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string) =>
    sub(name, description).argument("<proposal>", "proposal id; `last` is the newest open one");

  examples(
    sub("list", "List open proposals, newest first.")
      .addOption(
        new Option("--state <state>", "only proposals in this state (default: open)").choices(PROPOSAL_STATE_CHOICES),
      )
      .option("--all", "include decided proposals")
      .option("--limit <number>", "maximum number of proposals", "20")
      .addOption(json())
      .action(runner(list)),
    "tandem context proposals list",
    "tandem context proposals list --json | jq -r '.proposals[].id'",
  );
  examples(
    withFilterOptions(
      one("show", "Print a proposal as a diff, with the evidence of each hunk. A large one is grouped."),
    )
      .option("--all", "include decided hunks")
      .option("--limit <number>", "maximum number of files (default: 50; with --json: all)")
      .option("--after <cursor>", "continue after this file, as printed at the end of a page")
      .addOption(json())
      .action(runner(show)),
    "tandem context proposals show last",
    "tandem context proposals show last --kind join --path 'sales.*'",
  );
  examples(
    withFilterOptions(one("accept", "Accept a proposal, some of its hunks, or those that match, into the context."))
      .argument("[hunks...]", "hunk numbers, such as 1 3-5 (default: all open hunks)")
      .option("--dry-run", "only count the hunks that match")
      .option("-y, --yes", "do not ask for confirmation, also for held and quarantined hunks")
      .addOption(json())
      .action(runner(accept)),
    "tandem context proposals accept last",
    "tandem context proposals accept last 1 3-5",
    "tandem context proposals accept last --kind join --min-confidence 0.9 --dry-run",
  );
  examples(
    withFilterOptions(
      one("reject", "Reject a proposal, some of its hunks, or those that match. They are not proposed again."),
    )
      .argument("[hunks...]", "hunk numbers, such as 1 3-5 (default: all open hunks)")
      .option("--reason <text>", "reason")
      .option("--dry-run", "only count the hunks that match")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(reject)),
    'tandem context proposals reject last 2 --reason "That was last year"',
  );
  examples(
    one("edit", "Edit a proposed file in your editor (EDITOR) before you accept it.")
      .argument("[path]", "file, if the proposal has more than one")
      .option("--file <file>", "read the new text from this file instead")
      .addOption(json())
      .action(runner(edit)),
    "tandem context proposals edit last wiki/refunds.md",
  );
  examples(
    one("answer", "Answer a question of a proposal.")
      .argument("<question>", "number of the question")
      .argument("<answer...>", "answer")
      .addOption(json())
      .action(runner(answer)),
    'tandem context proposals answer last 1 "The handbook is right"',
  );
  examples(
    one("undo", "Undo the accepted changes of a proposal. They are not proposed again.")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(undo)),
    "tandem context proposals undo last",
  );
}

export interface ProposalListOptions {
  state?: Proposal["state"];
  all?: boolean;
  limit: string;
}

export async function list(invocation: Invocation, { state, all = false, limit }: ProposalListOptions): Promise<void> {
  const states = all ? undefined : [state ?? "open"];
  const count = toCount("--limit", limit);
  const proposals = await withContext(invocation, ({ proposals }) => proposals.list({ states, limit: count }));
  const { dim, bold } = styleFor(invocation.stdout);
  const rows = proposals.map((item) => [
    item.id,
    paintState(invocation, item),
    bold(printable(item.title)),
    dim(describeCounts(item)),
    dim(ago(item.createdAt)),
  ]);
  await writeTable(
    invocation,
    { proposals },
    rows,
    all
      ? "No proposals yet. `tandem context scan` and `tandem context ingest` create them."
      : `No ${state ?? "open"} proposals.`,
  );
}

export interface ShowOptions extends FilterOptions {
  all?: boolean;
  limit?: string;
  after?: string;
}

export async function show(invocation: Invocation, id: string, options: ShowOptions): Promise<void> {
  const { all = false, after } = options;
  const limit = options.limit === undefined ? undefined : toCount("--limit", options.limit);
  const filter = readFilter(options);
  await withContext(invocation, async (knowledge) => {
    const found = await findId(knowledge, id);
    await printProposal(invocation, knowledge, found, { all, limit, after, filter });
  });
}

export interface DecideOptions extends FilterOptions {
  dryRun?: boolean;
  yes?: boolean;
}

export async function accept(
  invocation: Invocation,
  id: string,
  hunks: string[],
  options: DecideOptions,
): Promise<number> {
  const { yes = false } = options;
  return await withContext(invocation, async (knowledge) => {
    const chosen = choiceOf(hunks, options);
    if (chosen.filter || options.dryRun) {
      const matching = { id: await findId(knowledge, id), filter: chosen.filter ?? {} };
      if (!(await confirmMatching(invocation, knowledge, "Accept", matching, options))) return 0;
      const { counts } = await knowledge.proposals.accept(matching.id, { ...chosen, by: userName() });
      await printProposal(invocation, knowledge, matching.id);
      return counts.conflict > 0 ? 1 : 0;
    }
    const found = await find(knowledge, id);
    if (found.quarantine !== null && !yes) {
      await confirm(invocation, `The proposal is in quarantine: ${printable(found.quarantine)}\n`, "Accept it anyway?");
    } else if (!yes) {
      const held = heldOf(found, chosen.hunks);
      if (held.length > 0) await confirm(invocation, `${printable(held.join("\n"))}\n`, "Accept it anyway?");
    }
    const { counts } = await knowledge.proposals.accept(found.id, { ...chosen, by: userName() });
    await printProposal(invocation, knowledge, found.id);
    // A conflict needs a person.
    return counts.conflict > 0 ? 1 : 0;
  });
}

export async function reject(
  invocation: Invocation,
  id: string,
  hunks: string[],
  options: DecideOptions & { reason?: string },
): Promise<void> {
  const { reason, yes = false } = options;
  await withContext(invocation, async (knowledge) => {
    const chosen = choiceOf(hunks, options);
    const found = await findId(knowledge, id);
    if (chosen.filter || options.dryRun) {
      const matching = { id: found, filter: chosen.filter ?? {} };
      if (!(await confirmMatching(invocation, knowledge, "Reject", matching, options))) return;
    } else if (!yes && chosen.hunks === undefined) {
      const { title, ...summary } = await summaryOf(knowledge, found);
      const about = `${printable(title)}, ${describeCounts(summary)}.\n`;
      await confirm(invocation, about, "Reject all open hunks permanently?");
    }
    await knowledge.proposals.reject(found, { ...chosen, by: userName(), ...(reason !== undefined && { reason }) });
    await printProposal(invocation, knowledge, found);
  });
}

function choiceOf(hunks: readonly string[], options: DecideOptions): { hunks?: string[]; filter?: HunkFilter } {
  const ids = readHunkIds(hunks);
  const filter = readFilter(options);
  if (ids && (filter || options.dryRun)) {
    throw new TandemError("usage", "Hunk numbers and filters exclude each other.", {
      fix: "Give numbers, or options such as --kind and --path.",
    });
  }
  return { ...(ids && { hunks: ids }), ...(filter && { filter }) };
}

/** Prints the number of matching hunks and asks. False for a dry run, or if nothing matches. */
async function confirmMatching(
  invocation: Invocation,
  { proposals }: Knowledge,
  verb: "Accept" | "Reject",
  { id, filter }: { id: string; filter: HunkFilter },
  { dryRun = false, yes = false }: DecideOptions,
): Promise<boolean> {
  const preview = (await proposals.preview(id, filter))!;
  const { stdout, stderr, json } = invocation;
  // Rejecting held hunks needs no caution.
  const hunks = preview.hunks + (verb === "Reject" ? preview.held : 0);
  if (dryRun && json) {
    await writeJson(stdout, preview);
    return false;
  }
  const held = verb === "Accept" && preview.held > 0 ? `; ${preview.held} held for review are left out` : "";
  const files = `${preview.files} ${preview.files === 1 ? "file" : "files"}`;
  const matching = `${hunks} open ${hunks === 1 ? "hunk matches" : "hunks match"}, in ${files}${held}.`;
  const about = `${[...describeGroups(stdout, preview.groups), matching].join("\n")}\n`;
  if (dryRun || hunks === 0) {
    await write(dryRun ? stdout : stderr, about);
    return false;
  }
  if (!yes) await confirm(invocation, about, `${verb} ${hunks === 1 ? "it" : `all ${hunks}`}?`);
  return true;
}

/** The quarantine reasons of the hunks to accept. */
const heldOf = ({ changes }: Proposal, ids: readonly string[] | undefined): string[] =>
  changes.flatMap(({ path, hunks }) =>
    hunks
      .filter(
        ({ id, state, held }) => held !== undefined && state === "open" && (ids === undefined || ids.includes(id)),
      )
      .map(({ id, held }) => `Hunk ${id} of ${path} is held: ${held}`),
  );

/** Opens the proposed text in the user's editor, or reads it from a file. */
export async function edit(
  invocation: Invocation,
  id: string,
  path: string | undefined,
  { file }: { file?: string },
): Promise<void> {
  await withContext(invocation, async (knowledge) => {
    const found = await find(knowledge, id);
    const { path: chosen, after } = chooseFile(found, path);
    const text =
      file === undefined
        ? await editText(invocation, chosen, after ?? "")
        : await readFile(resolve(invocation.cwd, file), "utf8");
    if (text === after) throw new TandemError("declined", "Nothing was changed.");
    await knowledge.proposals.edit(found.id, { path: chosen, after: text, by: userName() });
    await printProposal(invocation, knowledge, found.id);
  });
}

export async function answer(invocation: Invocation, id: string, decision: string, words: string[]): Promise<void> {
  await withContext(invocation, async (knowledge) => {
    const found = await findId(knowledge, id);
    await knowledge.proposals.answer(found, { decision, answer: words.join(" "), by: userName() });
    await printProposal(invocation, knowledge, found);
  });
}

export async function undo(invocation: Invocation, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  await withContext(invocation, async (knowledge) => {
    const found = await findId(knowledge, id);
    if (!yes) {
      const summary = await summaryOf(knowledge, found);
      const about = `${printable(summary.title)}, ${describeCounts(summary)}.\n`;
      await confirm(invocation, about, "Undo the accepted changes?");
    }
    await knowledge.proposals.undo(found, userName());
    await printProposal(invocation, knowledge, found);
  });
}

async function find(knowledge: Knowledge, id: string): Promise<Proposal> {
  const proposal = await knowledge.proposals.get(await findId(knowledge, id));
  if (proposal) return proposal;
  throw unknownProposal(id);
}

/** The newest open proposal for `last`, else the newest. Does not read the proposal. */
async function findId({ proposals }: Knowledge, id: string): Promise<string> {
  const [found] = id === "last" ? await newestOf(proposals) : [];
  if (id === "last" && !found) throw unknownProposal(id);
  return found?.id ?? id;
}

async function summaryOf({ proposals }: Knowledge, id: string): Promise<ProposalSummary> {
  const page = await proposals.page(id, { limit: 1 });
  if (!page) throw unknownProposal(id);
  return page.proposal;
}

async function newestOf(proposals: Knowledge["proposals"]): Promise<ProposalSummary[]> {
  const open = await proposals.list({ states: ["open"], limit: 1 });
  return open.length > 0 ? open : proposals.list({ limit: 1 });
}

function chooseFile({ id, changes }: Proposal, path: string | undefined): Proposal["changes"][number] {
  const found =
    path === undefined && changes.length === 1 ? changes[0] : changes.find((change) => change.path === path);
  if (found) return found;
  throw new TandemError(
    "usage",
    path === undefined ? `${id} changes ${changes.length} files.` : `${path} is not in ${id}.`,
    { fix: `Use one of: ${changes.map((change) => change.path).join(", ")}.` },
  );
}
