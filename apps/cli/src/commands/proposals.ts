import type { Context as Knowledge, Proposal, ProposalSummary } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { openContext, openStore } from "@tandem/tandem/compose";
import { confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { openProject } from "@tandem/tandem/project";
import { describeProposal } from "../proposals/describe-proposal.ts";
import { editText } from "../proposals/edit-text.ts";
import { readHunkIds } from "../proposals/read-hunk-ids.ts";
import { ago, toCount } from "../shown.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

export interface ProposalListOptions {
  state?: Proposal["state"];
  all?: boolean;
  limit: string;
}

export async function list(context: Context, { state, all = false, limit }: ProposalListOptions): Promise<void> {
  const states = all ? undefined : [state ?? "open"];
  const count = toCount("--limit", limit);
  const proposals = await withContext(context, ({ proposals }) => proposals.list({ states, limit: count }));
  const { stdout, json } = context;
  if (json) {
    await write(stdout, `${JSON.stringify({ proposals }, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(stdout);
  const rows = proposals.map((item) => [
    item.id,
    paintState(context, item),
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

export async function show(context: Context, id: string, { all = false }: { all?: boolean }): Promise<void> {
  await print(context, await withContext(context, (knowledge) => find(knowledge, id)), { all });
}

export async function accept(
  context: Context,
  id: string,
  hunks: string[],
  { yes = false }: { yes?: boolean },
): Promise<number> {
  const proposal = await withContext(context, async (knowledge) => {
    const found = await find(knowledge, id);
    const ids = readHunkIds(hunks);
    if (found.quarantine !== null && !yes) {
      await confirm(context, `It is in quarantine: ${printable(found.quarantine)}\n`, "Accept it all the same?");
    } else if (!yes) {
      const held = heldOf(found, ids);
      if (held.length > 0) await confirm(context, `${printable(held.join("\n"))}\n`, "Accept that all the same?");
    }
    return knowledge.proposals.accept(found.id, { hunks: ids, by: whoAmI() });
  });
  await print(context, proposal, { all: false });
  // Something did not fit: that is for a person to see.
  return proposal.counts.conflict > 0 ? 1 : 0;
}

export async function reject(
  context: Context,
  id: string,
  hunks: string[],
  { reason, yes = false }: { reason?: string; yes?: boolean },
): Promise<void> {
  const proposal = await withContext(context, async (knowledge) => {
    const found = await find(knowledge, id);
    const ids = readHunkIds(hunks);
    if (!yes && ids === undefined) {
      await confirm(
        context,
        `${printable(found.title)}, ${describeCounts(found)}.\n`,
        "Reject all that is open, for good?",
      );
    }
    return knowledge.proposals.reject(found.id, { hunks: ids, by: whoAmI(), reason });
  });
  await print(context, proposal, { all: false });
}

/** Why hunks that are about to be accepted were held back, each with its reason. */
const heldOf = ({ changes }: Proposal, ids: readonly string[] | undefined): string[] =>
  changes.flatMap(({ path, hunks }) =>
    hunks
      .filter(
        ({ id, state, held }) => held !== undefined && state === "open" && (ids === undefined || ids.includes(id)),
      )
      .map(({ id, held }) => `Hunk ${id} of ${path} is held: ${held}`),
  );

/** Opens the proposed text of a file in the user's editor, or takes it from a file. */
export async function edit(
  context: Context,
  id: string,
  path: string | undefined,
  { file }: { file?: string },
): Promise<void> {
  const proposal = await withContext(context, async (knowledge) => {
    const found = await find(knowledge, id);
    const { path: chosen, after } = chooseFile(found, path);
    const text =
      file === undefined
        ? await editText(context, chosen, after ?? "")
        : await readFile(resolve(context.cwd, file), "utf8");
    if (text === after) throw new TandemError("declined", "Nothing was changed.");
    return knowledge.proposals.edit(found.id, { path: chosen, after: text, by: whoAmI() });
  });
  await print(context, proposal, { all: false });
}

export async function answer(context: Context, id: string, decision: string, words: string[]): Promise<void> {
  const proposal = await withContext(context, async (knowledge) => {
    const found = await find(knowledge, id);
    return knowledge.proposals.answer(found.id, { decision, answer: words.join(" "), by: whoAmI() });
  });
  await print(context, proposal, { all: false });
}

export async function undo(context: Context, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const proposal = await withContext(context, async (knowledge) => {
    const found = await find(knowledge, id);
    if (!yes)
      await confirm(context, `${printable(found.title)}, ${describeCounts(found)}.\n`, "Undo what was accepted?");
    return knowledge.proposals.undo(found.id, whoAmI());
  });
  await print(context, proposal, { all: false });
}

async function withContext<T>(context: Context, work: (knowledge: Knowledge) => Promise<T>): Promise<T> {
  const project = await openProject(context);
  await using store = await openStore(context, project);
  return await work(await openContext(project, store));
}

/** By its id; `last` is the newest that is open, or else the newest. */
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
    {
      fix: `Name one of: ${changes.map((change) => change.path).join(", ")}.`,
    },
  );
}

async function print(context: Context, proposal: Proposal, { all }: { all: boolean }): Promise<void> {
  const { stdout, json } = context;
  if (json) {
    await write(stdout, `${JSON.stringify(proposal, null, 2)}\n`);
    return;
  }
  const head = `${proposal.id}  ${paintState(context, proposal)}  ${styleFor(stdout).dim(describeCounts(proposal))}`;
  await write(stdout, `${[head, ...(await describeProposal(stdout, proposal, { all }))].join("\n")}\n`);
}

function paintState({ stdout }: Context, { state }: ProposalSummary): string {
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
