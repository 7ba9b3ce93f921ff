import type { Context as Knowledge, Proposal, ProposalSummary } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { openContext, openStore } from "@tandem/tandem/compose";
import { confirm } from "../../confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { openProject } from "@tandem/tandem/project";
import { describeProposal } from "../../proposals/describe-proposal.ts";
import { editText } from "../../proposals/edit-text.ts";
import { readHunkIds } from "../../proposals/read-hunk-ids.ts";
import { ago } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { PROPOSAL_STATE_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string) =>
    sub(name, description).argument("<proposal>", "its id; `last` is the newest that is open");

  examples(
    sub("list", "List what waits for a decision, the newest first.")
      .addOption(new Option("--state <state>", "those that are (default: open)").choices(PROPOSAL_STATE_CHOICES))
      .option("--all", "decided ones too")
      .option("--limit <number>", "at most so many", "20")
      .addOption(json())
      .action((options: ProposalListOptions, self: Command) => runner(self, (invocation) => list(invocation, options))),
    "tandem proposals list",
    "tandem proposals list --json | jq -r '.proposals[].id'",
  );
  examples(
    one("show", "Print a proposal as a diff, and what each part of it rests on.")
      .option("--all", "with what is decided already")
      .addOption(json())
      .action((id: string, options: { all?: boolean }, self: Command) =>
        runner(self, (invocation) => show(invocation, id, options)),
      ),
    "tandem proposals show last",
  );
  examples(
    one("accept", "Write it into the context, wholly or in part.")
      .argument("[hunks...]", "numbers of hunks, such as 1 3-5 (default: all that are open)")
      .option("-y, --yes", "also what is held or in quarantine, without a question")
      .addOption(json())
      .action((id: string, hunks: string[], options: { yes?: boolean }, self: Command) =>
        runner(self, (invocation) => accept(invocation, id, hunks, options)),
      ),
    "tandem proposals accept last",
    "tandem proposals accept last 1 3-5",
  );
  examples(
    one("reject", "Turn it down, wholly or in part; it is not proposed again.")
      .argument("[hunks...]", "numbers of hunks, such as 1 3-5 (default: all that are open)")
      .option("--reason <text>", "why")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((id: string, hunks: string[], options: { reason?: string; yes?: boolean }, self: Command) =>
        runner(self, (invocation) => reject(invocation, id, hunks, options)),
      ),
    'tandem proposals reject last 2 --reason "That was last year"',
  );
  examples(
    one("edit", "Change a proposed file in your editor (EDITOR) before you accept it.")
      .argument("[path]", "the file, if there is more than one")
      .option("--file <file>", "take the new text from a file instead")
      .addOption(json())
      .action((id: string, path: string | undefined, options: { file?: string }, self: Command) =>
        runner(self, (invocation) => edit(invocation, id, path, options)),
      ),
    "tandem proposals edit last wiki/refunds.md",
  );
  examples(
    one("answer", "Answer a question that a proposal asks.")
      .argument("<question>", "its number")
      .argument("<answer...>", "the answer, in words")
      .addOption(json())
      .action((id: string, question: string, words: string[], _options: object, self: Command) =>
        runner(self, (invocation) => answer(invocation, id, question, words)),
      ),
    'tandem proposals answer last 1 "The handbook is right"',
  );
  examples(
    one("undo", "Take back what was accepted of a proposal; it is not proposed again.")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((id: string, options: { yes?: boolean }, self: Command) =>
        runner(self, (invocation) => undo(invocation, id, options)),
      ),
    "tandem proposals undo last",
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
  const { stdout, json } = invocation;
  if (json) {
    await write(stdout, `${JSON.stringify({ proposals }, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(stdout);
  const rows = proposals.map((item) => [
    item.id,
    paintState(invocation, item),
    bold(printable(item.title)),
    dim(describeCounts(item)),
    dim(ago(item.createdAt)),
  ]);
  const none = dim(
    all
      ? "No proposals yet. `tandem scan` and `tandem ingest` make them."
      : `No proposals that are ${state ?? "open"}.`,
  );
  await write(stdout, `${rows.length > 0 ? table(rows).join("\n") : none}\n`);
}

export async function show(invocation: Invocation, id: string, { all = false }: { all?: boolean }): Promise<void> {
  await print(invocation, await withContext(invocation, (knowledge) => find(knowledge, id)), { all });
}

export async function accept(
  invocation: Invocation,
  id: string,
  hunks: string[],
  { yes = false }: { yes?: boolean },
): Promise<number> {
  const proposal = await withContext(invocation, async (knowledge) => {
    const found = await find(knowledge, id);
    const ids = readHunkIds(hunks);
    if (found.quarantine !== null && !yes) {
      await confirm(invocation, `It is in quarantine: ${printable(found.quarantine)}\n`, "Accept it all the same?");
    } else if (!yes) {
      const held = heldOf(found, ids);
      if (held.length > 0) await confirm(invocation, `${printable(held.join("\n"))}\n`, "Accept that all the same?");
    }
    return knowledge.proposals.accept(found.id, { hunks: ids, by: whoAmI() });
  });
  await print(invocation, proposal, { all: false });
  // A conflict needs a person.
  return proposal.counts.conflict > 0 ? 1 : 0;
}

export async function reject(
  invocation: Invocation,
  id: string,
  hunks: string[],
  { reason, yes = false }: { reason?: string; yes?: boolean },
): Promise<void> {
  const proposal = await withContext(invocation, async (knowledge) => {
    const found = await find(knowledge, id);
    const ids = readHunkIds(hunks);
    if (!yes && ids === undefined) {
      await confirm(
        invocation,
        `${printable(found.title)}, ${describeCounts(found)}.\n`,
        "Reject all that is open, for good?",
      );
    }
    return knowledge.proposals.reject(found.id, { hunks: ids, by: whoAmI(), reason });
  });
  await print(invocation, proposal, { all: false });
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
  const proposal = await withContext(invocation, async (knowledge) => {
    const found = await find(knowledge, id);
    const { path: chosen, after } = chooseFile(found, path);
    const text =
      file === undefined
        ? await editText(invocation, chosen, after ?? "")
        : await readFile(resolve(invocation.cwd, file), "utf8");
    if (text === after) throw new TandemError("declined", "Nothing was changed.");
    return knowledge.proposals.edit(found.id, { path: chosen, after: text, by: whoAmI() });
  });
  await print(invocation, proposal, { all: false });
}

export async function answer(invocation: Invocation, id: string, decision: string, words: string[]): Promise<void> {
  const proposal = await withContext(invocation, async (knowledge) => {
    const found = await find(knowledge, id);
    return knowledge.proposals.answer(found.id, { decision, answer: words.join(" "), by: whoAmI() });
  });
  await print(invocation, proposal, { all: false });
}

export async function undo(invocation: Invocation, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const proposal = await withContext(invocation, async (knowledge) => {
    const found = await find(knowledge, id);
    if (!yes)
      await confirm(invocation, `${printable(found.title)}, ${describeCounts(found)}.\n`, "Undo what was accepted?");
    return knowledge.proposals.undo(found.id, whoAmI());
  });
  await print(invocation, proposal, { all: false });
}

async function withContext<T>(invocation: Invocation, work: (knowledge: Knowledge) => Promise<T>): Promise<T> {
  const project = await openProject(invocation);
  await using store = await openStore(invocation, project);
  return await work(await openContext(project, store));
}

/** Finds a proposal by id. `last` is the newest open one, else the newest. */
async function find({ proposals }: Knowledge, id: string): Promise<Proposal> {
  const [newest] = id === "last" ? await newestOf(proposals) : [];
  const proposal = await proposals.get(newest?.id ?? id);
  if (proposal) return proposal;
  throw new TandemError("not_found", id === "last" ? "There are no proposals yet." : `There is no proposal ${id}.`, {
    fix: "List them with `tandem proposals list --all`.",
  });
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
    { fix: `Name one of: ${changes.map((change) => change.path).join(", ")}.` },
  );
}

async function print(invocation: Invocation, proposal: Proposal, { all }: { all: boolean }): Promise<void> {
  const { stdout, json } = invocation;
  if (json) {
    await write(stdout, `${JSON.stringify(proposal, null, 2)}\n`);
    return;
  }
  const head = `${proposal.id}  ${paintState(invocation, proposal)}  ${styleFor(stdout).dim(describeCounts(proposal))}`;
  await write(stdout, `${[head, ...(await describeProposal(stdout, proposal, { all }))].join("\n")}\n`);
}

function paintState({ stdout }: Invocation, { state }: ProposalSummary): string {
  const { good, warn, dim } = styleFor(stdout);
  return (state === "open" ? warn : state === "rejected" ? dim : good)(state);
}

function describeCounts({ counts, files, decisions }: ProposalSummary): string {
  const questions = decisions.filter((item) => item.answer === null).length;
  const parts = [
    ...(["open", "conflict", "accepted", "rejected"] as const)
      .filter((state) => counts[state] > 0)
      .map((state) => `${counts[state]} ${state}`),
    ...(questions > 0 ? [`${questions} ${questions === 1 ? "question" : "questions"}`] : []),
  ];
  return `${parts.join(", ") || "nothing"} in ${files} ${files === 1 ? "file" : "files"}`;
}

const whoAmI = (): string => userInfo().username;
