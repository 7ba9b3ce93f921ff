import { TandemError, type RewindOutcome, type SessionCheckpoints } from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { localActor } from "@tandem/tandem/project";
import { findSession, SESSION_ARGUMENT } from "../../sessions/find-session.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { paintPatch, statLines } from "../../sessions/render-diff.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, widthOf, write, writeJson, writeResult, writeTable } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

const ofSession = (command: Command, json: Registration["json"]): Command =>
  command.argument("[session]", SESSION_ARGUMENT).addOption(json());

export function registerDiff(command: Command, { examples, json, runner }: Registration): void {
  examples(
    ofSession(command, json)
      .option("--turns", "list the turns of the session instead")
      .option("--turn <number>", "only this turn")
      .option("--from <checkpoint>", "start at this checkpoint")
      .option("--to <checkpoint>", "end at this checkpoint; `now` is the current state")
      .option("--stat", "only file names and line counts")
      .action(runner(diff)),
    "tandem diff",
    "tandem diff --turns",
    "tandem diff last --turn 2 --stat",
    "tandem diff last > work.patch",
  );
}

export function registerRewind(command: Command, { examples, json, runner }: Registration): void {
  examples(
    ofSession(command, json)
      .option("--to <turn>", "number of the turn to undo, with all later turns (default: the last)")
      .option("--files", "only the files")
      .option("--conversation", "only the conversation")
      .option("--dry-run", "only show what would change")
      .option("--force", "also overwrite changes made outside the session")
      .option("--undo", "undo the last rewind")
      .action(runner(rewind)),
    "tandem rewind --dry-run",
    "tandem rewind --to 3 --files",
    "tandem rewind --undo",
  );
}

export function registerFork(command: Command, { examples, json, runner }: Registration): void {
  examples(
    ofSession(command, json)
      .option("--at <turn>", "fork before the turn with this number (default: at the end)")
      .option("--worktree", "use a new git worktree with the files of that point")
      .option("--title <text>", "title (default: the same)")
      .action(runner(fork)),
    "tandem fork",
    "tandem fork last --at 2 --worktree",
  );
}

const SHOWN_TEXT = 60;

export interface DiffOptions {
  turns?: boolean;
  turn?: string;
  from?: string;
  to?: string;
  stat?: boolean;
}

export interface RewindOptions {
  to?: string;
  files?: boolean;
  conversation?: boolean;
  dryRun?: boolean;
  force?: boolean;
  undo?: boolean;
}

export interface ForkOptions {
  at?: string;
  worktree?: boolean;
  title?: string;
}

export async function diff(invocation: Invocation, id: string | undefined, options: DiffOptions): Promise<void> {
  const { turns, turn, from, to, stat = false } = options;
  if (turn !== undefined && (from !== undefined || to !== undefined)) {
    throw new TandemError("usage", "--turn cannot be combined with --from and --to.", {
      fix: "Give --turn, or --from and --to.",
    });
  }
  await using client = await clientFor("tandem diff")(invocation);
  const session = await findSession(client, id, invocation);
  const { stdout, json } = invocation;
  if (turns) return listTurns(invocation, await client.history.checkpoints(session.id));
  const query = { ...(turn !== undefined && { turn: toTurn("--turn", turn) }), from, to, patch: !stat };
  const found = await client.history.diff(session.id, query);
  if (json) return writeJson(stdout, found);
  const style = styleFor(stdout);
  const lines = stat || stdout.isTTY ? statLines(found, style, widthOf(stdout)) : [];
  const body = stat
    ? ""
    : found.files.map((file) => (stdout.isTTY ? paintPatch(file, style) : (file.patch ?? ""))).join("");
  const gap = lines.length > 0 && body !== "" ? "\n" : "";
  await write(stdout, `${lines.map((line) => `${line}\n`).join("")}${gap}${body}`);
  // On stderr: stdout is a patch.
  if (found.files.length === 0 && lines.length === 0)
    await write(invocation.stderr, `No file changes in ${session.id}.\n`);
  if (found.skipped.length > 0) {
    await write(invocation.stderr, `Skipped because of their size: ${found.skipped.map(printable).join(", ")}\n`);
  }
}

async function listTurns(invocation: Invocation, { turns, checkpoints }: SessionCheckpoints): Promise<void> {
  const { dim, bold } = styleFor(invocation.stdout);
  const rows = turns.map(({ turn, text, at, files_changed: changed, rewound }) => {
    const [first = ""] = printable(text).trim().split("\n");
    const short = first.length > SHOWN_TEXT ? `${first.slice(0, SHOWN_TEXT)}…` : first;
    const files = changed === null ? "" : changed === 1 ? "1 file" : `${changed} files`;
    const number = String(turn).padStart(String(turns.length).length);
    return [dim(number), rewound ? dim(short) : bold(short), dim(files), dim(rewound ? "rewound" : at ? ago(at) : "")];
  });
  await writeTable(invocation, { turns, checkpoints }, rows, "No messages yet.");
}

export async function rewind(invocation: Invocation, id: string | undefined, options: RewindOptions): Promise<void> {
  const { to, files, conversation, dryRun = false, force = false, undo } = options;
  if (undo && (to !== undefined || files || conversation || dryRun)) {
    throw new TandemError("usage", "--undo cannot be combined with other options.", {
      fix: "Use --undo alone, or with --force.",
    });
  }
  await using client = await clientFor("tandem rewind")(invocation);
  const session = await findSession(client, id, invocation);
  const scope = files && !conversation ? "files" : conversation && !files ? "conversation" : "both";
  const outcome = undo
    ? await client.history.undoRewind(session.id, { force }, localActor())
    : await client.history.rewind(
        session.id,
        { ...(to !== undefined && { turn: toTurn("--to", to) }), scope, dry_run: dryRun, force },
        localActor(),
      );
  await writeResult(invocation, outcome, describeRewind(invocation, session.id, outcome));
}

function describeRewind({ stdout }: Invocation, session: string, outcome: RewindOutcome): string[] {
  const style = styleFor(stdout);
  const { dim, bold, warn } = style;
  const { dry_run: dry, scope, turn, turns, diff: changes, foreign } = outcome;
  const lines: string[] = [];
  if (changes) lines.push(...statLines(changes, style, widthOf(stdout)), "");
  if (dry && changes)
    lines.push(
      changes.files
        .map((file) => paintPatch(file, style))
        .join("")
        .trimEnd(),
      "",
    );
  for (const { path, reason } of foreign) lines.push(`${warn("!")} ${printable(path)}  ${dim(reason)}`);
  if (foreign.length > 0) lines.push("");
  const what = { files: "files", conversation: "conversation", both: "files and conversation" }[scope];
  const forgets = turns === 0 ? "" : turns === 1 ? "; the agent forgets 1 turn" : `; the agent forgets ${turns} turns`;
  if (turn === null) return [...lines, `Restored the ${bold(what)} of before the rewind.`];
  lines.push(`${dry ? "Would rewind" : "Rewound"} the ${bold(what)} to before turn ${turn}${forgets}.`);
  if (dry && foreign.length > 0)
    lines.push(dim("These files were changed outside the session. Overwrite them with --force."));
  if (!dry) lines.push(dim(`Undo: tandem rewind ${session} --undo`));
  return lines;
}

export async function fork(
  invocation: Invocation,
  id: string | undefined,
  { at, worktree, title }: ForkOptions,
): Promise<void> {
  await using client = await clientFor("tandem fork")(invocation);
  const session = await findSession(client, id, invocation);
  const params = {
    ...(at !== undefined && { turn: toTurn("--at", at) }),
    ...(worktree && { worktree }),
    ...(title !== undefined && { title }),
  };
  const made = await client.history.fork(session.id, params, localActor());
  const { bold, dim } = styleFor(invocation.stdout);
  const from = at === undefined ? "continues from the end" : `continues from before turn ${at}`;
  const where = worktree ? ", in a new worktree" : "";
  await writeResult(invocation, made, [
    `${bold(made.id)} ${from} of ${session.id}${where}.`,
    dim(`Continue: tandem resume ${made.id} "…"`),
  ]);
}

function toTurn(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}.`, {
    fix: "Give a number from `tandem diff --turns`.",
  });
}
