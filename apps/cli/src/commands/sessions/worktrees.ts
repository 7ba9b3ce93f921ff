import { RequestError, type WorktreeStatus, type WorktreeView } from "@tandem/protocol";
import { realpathSync } from "node:fs";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { localActor } from "@tandem/tandem/project";
import { findSession, isWithin, nameSession } from "../../sessions/find-session.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { plural, ago } from "../../human-units.ts";
import { printable, styleFor, table, write, writeJson, writeResult, writeTable } from "../../terminal.ts";
import type { Command } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

const WORKTREE_ARGUMENT =
  "session id; `last` is the newest session (default: the newest worktree of this folder's repository)";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const of = (name: string, description: string) =>
    sub(name, description).argument("[session]", WORKTREE_ARGUMENT).addOption(json());
  examples(
    sub("list", "List the worktrees of sessions on this machine.").addOption(json()).action(runner(list)),
    "tandem sessions worktrees list",
  );
  examples(
    of("show", "Show the changes in a worktree, and which exist nowhere else.").action(runner(show)),
    "tandem sessions worktrees show last",
  );
  examples(
    of("diff", "Print all changes, committed or not, as a patch for git apply.").action(runner(diff)),
    "tandem sessions worktrees diff last",
    "tandem sessions worktrees diff last > work.patch",
  );
  examples(
    of("merge", "Merge its commits into the branch it started from. Refuses conflicts and dirty checkouts.")
      .option("--into <branch>", "target branch (default: the branch it started from)")
      .option("-m, --message <text>", "message of a merge commit")
      .option("--dry-run", "only print what would happen")
      .option("--undo", "undo the last merge")
      .action(runner(merge)),
    "tandem sessions worktrees merge last",
    "tandem sessions worktrees merge last --undo",
  );
  examples(
    of("patch", "Apply all changes to the folder it started from, unstaged.")
      .option("--dry-run", "only print what would change")
      .option("--undo", "undo the last apply")
      .action(runner(patch)),
    "tandem sessions worktrees patch last --dry-run",
    "tandem sessions worktrees patch last",
  );
  examples(
    of("remove", "Remove a worktree and archive its session. Refuses if work would be lost.")
      .option("--keep-branch", "keep commits and stashes that exist nowhere else")
      .option("--discard", "discard uncommitted changes")
      .option("-y, --yes", "do not ask for confirmation")
      .action(runner(remove)),
    "tandem sessions worktrees remove last",
    "tandem sessions worktrees remove last --keep-branch",
  );
  examples(
    sub("prune", "Remove worktrees of archived and deleted sessions that contain no unsaved work.")
      .option("--dry-run", "only print which")
      .addOption(json())
      .action(runner(prune)),
    "tandem sessions worktrees prune --dry-run",
  );
}

const MAX_FILES = 20;

const open = clientFor("tandem sessions worktrees");

/**
 * Without an id, takes the newest worktree of this folder's repository. A worktree may outlive its session, so a full id is
 * used without a lookup.
 */
async function idOf(invocation: Invocation, client: SessionsClient, id: string | undefined): Promise<string> {
  if (id !== undefined) return id === "last" ? (await findSession(client, id, invocation)).id : id;
  const folder = realpathSync(invocation.cwd);
  const here = (await client.worktrees.list()).filter(
    (worktree) => isWithin(worktree.repository, folder) || isWithin(worktree.folder, folder),
  );
  const newest = here.toSorted((a, b) => b.created_at.localeCompare(a.created_at))[0];
  if (!newest) {
    throw new RequestError("not_found", `No session has a worktree of ${folder}.`, {
      fix: "Name a session: `tandem sessions worktrees` lists them.",
    });
  }
  await nameSession(invocation, { id: newest.session_id, title: newest.title });
  return newest.session_id;
}

export async function list(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const worktrees = await client.worktrees.list();
  const { dim, bold } = styleFor(invocation.stdout);
  const rows = worktrees.map((worktree) => [
    worktree.session_id,
    shownState(invocation, worktree),
    bold(printable(worktree.branch)),
    dim(printable(worktree.from === null ? "from no branch" : `from ${worktree.from}`)),
    dim(portsOf(worktree)),
    dim(ago(worktree.created_at)),
  ]);
  await writeTable(invocation, { worktrees }, rows, 'No worktrees. Start a session in one: tandem run --worktree "…"');
}

export async function show(invocation: Invocation, id: string | undefined): Promise<void> {
  await using client = await open(invocation);
  const status = await client.worktrees.status(await idOf(invocation, client, id));
  const { stdout } = invocation;
  if (invocation.json) return writeJson(stdout, status);
  const { dim, bold, warn } = styleFor(stdout);
  const { merged, applied } = status;
  const rows = [
    [dim("session"), status.session_id],
    [dim("title"), bold(printable(status.title ?? "–"))],
    [dim("state"), shownState(invocation, status)],
    [dim("folder"), printable(status.folder)],
    [dim("repository"), printable(status.repository)],
    [
      dim("branch"),
      `${printable(status.branch)}, ${status.from === null ? "from no branch" : `from ${printable(status.from)}`}`,
    ],
    [dim("ports"), portsOf(status).replace(/^ports? /, "")],
    [dim("work"), workOf(status)],
    [
      dim("only here"),
      status.unsaved.uncommitted.length + status.unsaved.commits + status.unsaved.stashes > 0
        ? warn(unsavedOf(status))
        : "nothing",
    ],
    ...(merged ? [[dim("merged"), `${plural(merged.commits, "commit")} into ${printable(merged.into)}`]] : []),
    ...(applied ? [[dim("applied"), `${plural(applied.files.length, "file")} in ${printable(applied.folder)}`]] : []),
    ...(status.copied > 0 ? [[dim("copied"), `${plural(status.copied, "file")} that git does not track`]] : []),
    ...status.skipped.map(({ path, why }) => [dim("not copied"), `${printable(path)}: ${printable(why)}`]),
  ];
  await write(stdout, `${table(rows).join("\n")}\n${filesOf(invocation, status)}`);
}

/** Prints the patch unchanged, for a pager or git. */
export async function diff(invocation: Invocation, id: string | undefined): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(invocation, client, id);
  const patch = await client.worktrees.patch(session);
  const { stdout } = invocation;
  if (invocation.json) return write(stdout, `${JSON.stringify({ session_id: session, patch })}\n`);
  const { good, bad, accent, bold } = styleFor(stdout);
  const paint = (line: string): string => {
    if (line.startsWith("diff ") || line.startsWith("+++ ") || line.startsWith("--- ")) return bold(line);
    if (line.startsWith("@@")) return accent(line);
    return line.startsWith("+") ? good(line) : line.startsWith("-") ? bad(line) : line;
  };
  // In a file or pipe, git must be able to apply it.
  await write(stdout, stdout.isTTY ? printable(patch).split("\n").map(paint).join("\n") : patch);
}

export async function merge(
  invocation: Invocation,
  id: string | undefined,
  options: { into?: string; message?: string; dryRun?: boolean; undo?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(invocation, client, id);
  const { into, message, dryRun = false, undo = false } = options;
  const params = { ...(into && { into }), ...(message && { message }), dry_run: dryRun, undo };
  const result = await client.worktrees.merge(session, params, localActor());
  const branch = printable(result.into);
  const commits = plural(result.commits, "commit");
  const how = result.kind === "merge" ? "by a merge commit" : "by fast-forward";
  const text = undo
    ? `${branch} is back at ${result.after.slice(0, 10)}, as before the merge.`
    : result.kind === "nothing"
      ? `${branch} is already up to date.`
      : dryRun
        ? `Would merge ${commits} into ${branch} ${how}.`
        : `Merged ${commits} into ${branch} ${how}. Undo: tandem sessions worktrees merge ${session} --undo`;
  const left =
    result.left.length > 0 && !undo
      ? [`Uncommitted, only in the worktree: ${result.left.slice(0, 5).map(printable).join(", ")}.`]
      : [];
  await writeResult(invocation, result, [text, ...left]);
}

export async function patch(
  invocation: Invocation,
  id: string | undefined,
  options: { dryRun?: boolean; undo?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(invocation, client, id);
  const { dryRun = false, undo = false } = options;
  const result = await client.worktrees.apply(session, { dry_run: dryRun, undo }, localActor());
  const { folder, files } = result;
  const names = files.slice(0, MAX_FILES).map((path) => `  ${printable(path)}`);
  const what = `${plural(files.length, "file")} in ${printable(folder)}`;
  const text = undo
    ? `${dryRun ? "Would undo" : "Undone"}: ${what}`
    : files.length === 0
      ? "No changes in the worktree."
      : dryRun
        ? `Would change ${what}`
        : `Changed ${what}. Undo: tandem sessions worktrees patch ${session} --undo`;
  await writeResult(invocation, result, [text, ...names]);
}

export async function remove(
  invocation: Invocation,
  id: string | undefined,
  options: { keepBranch?: boolean; discard?: boolean; yes?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(invocation, client, id);
  const { keepBranch = false, discard = false, yes = false } = options;
  if (discard && !yes) {
    const { unsaved, folder } = await client.worktrees.status(session);
    const lost = unsaved.uncommitted.map((path) => `  ${printable(path)}`).join("\n");
    if (lost)
      await confirm(
        invocation,
        `Uncommitted changes in ${printable(folder)} that will be lost:\n${lost}\n`,
        "Remove it?",
      );
  }
  await client.worktrees.remove(session, { keep_branch: keepBranch, discard }, localActor());
  await writeResult(invocation, { removed: session }, [`Removed the worktree of ${session} and archived the session.`]);
}

export async function prune(invocation: Invocation, { dryRun = false }: { dryRun?: boolean }): Promise<void> {
  await using client = await open(invocation);
  const result = await client.worktrees.prune(dryRun, localActor());
  const lines = [
    ...result.removed.map((id) => `${dryRun ? "would remove" : "removed"}  ${id}`),
    ...result.kept.map(({ session_id: id, why }) => `kept  ${id}  ${printable(why)}`),
  ];
  await writeResult(
    invocation,
    result,
    lines.length > 0 ? lines : ["Nothing to remove: every worktree belongs to an active session."],
  );
}

function shownState({ stdout }: Invocation, { session }: WorktreeView): string {
  const { good, warn, dim } = styleFor(stdout);
  return { idle: dim, running: good, rescheduling: warn, terminated: dim, archived: dim, gone: warn }[session](session);
}

const portsOf = ({ ports }: WorktreeView): string =>
  ports.count === 1 ? `port ${ports.from}` : `ports ${ports.from}–${ports.from + ports.count - 1}`;

function workOf({ commits, files }: WorktreeStatus): string {
  const lines = files.reduce((sum, file) => [sum[0]! + file.added, sum[1]! + file.removed], [0, 0]);
  return `${plural(commits, "commit")}, ${plural(files.length, "file")} changed, +${lines[0]} −${lines[1]}`;
}

function unsavedOf({ unsaved: { uncommitted, commits, stashes } }: WorktreeStatus): string {
  return [
    ...(uncommitted.length > 0 ? [`${uncommitted.length} uncommitted`] : []),
    ...(commits > 0 ? [`${plural(commits, "commit")} on no other branch`] : []),
    ...(stashes > 0 ? [plural(stashes, "stash", "stashes")] : []),
  ].join(", ");
}

function filesOf({ stdout }: Invocation, { files }: WorktreeStatus): string {
  if (files.length === 0) return "";
  const { dim, good, bad } = styleFor(stdout);
  const rows = files
    .slice(0, MAX_FILES)
    .map(({ path, added, removed }) => [`  ${printable(path)}`, good(`+${added}`), bad(`−${removed}`)]);
  const more = files.length > MAX_FILES ? `${dim(`  … ${files.length - MAX_FILES} more`)}\n` : "";
  return `\n${table(rows).join("\n")}\n${more}`;
}
