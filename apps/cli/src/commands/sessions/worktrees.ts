import type { WorktreeStatus, WorktreeView } from "@tandem/protocol";
import { confirm } from "../../confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { findSession } from "../../sessions/find-session.ts";
import { openClient } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, table, write } from "../../terminal.ts";
import type { Command } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const of = (name: string, description: string) =>
    sub(name, description).argument("<session>", "its id; `last` is the newest").addOption(json());
  examples(
    sub("list", "List the worktrees of sessions on this machine.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, (invocation) => list(invocation))),
    "tandem worktrees list",
  );
  examples(
    of("show", "Show what was done in a worktree, and what of it is nowhere else.").action(
      (id: string, _options: object, self: Command) => runner(self, (invocation) => show(invocation, id)),
    ),
    "tandem worktrees show last",
  );
  examples(
    of("diff", "Print all that was done in it, committed or not, as a patch for git apply.").action(
      (id: string, _options: object, self: Command) => runner(self, (invocation) => diff(invocation, id)),
    ),
    "tandem worktrees diff last",
    "tandem worktrees diff last > work.patch",
  );
  examples(
    of("merge", "Merge its commits into the branch that it came from; conflicts and dirty checkouts are refused.")
      .option("--into <branch>", "another branch")
      .option("-m, --message <text>", "of the merge commit, where one is needed")
      .option("--dry-run", "only say what would happen")
      .option("--undo", "put the branch back where it stood before the last merge")
      .action(
        (id: string, options: { into?: string; message?: string; dryRun?: boolean; undo?: boolean }, self: Command) =>
          runner(self, (invocation) => merge(invocation, id, options)),
      ),
    "tandem worktrees merge last",
    "tandem worktrees merge last --undo",
  );
  examples(
    of("patch", "Apply all that was done in it to the files of the folder that it came from; nothing is staged.")
      .option("--dry-run", "only say what would change")
      .option("--undo", "take back what was applied last")
      .action((id: string, options: { dryRun?: boolean; undo?: boolean }, self: Command) =>
        runner(self, (invocation) => patch(invocation, id, options)),
      ),
    "tandem worktrees patch last --dry-run",
    "tandem worktrees patch last",
  );
  examples(
    of("remove", "Remove a worktree, unless work would be lost; its session is archived.")
      .option("--keep-branch", "commits and stashes that are nowhere else stay in the repository")
      .option("--discard", "what is not committed is lost")
      .option("-y, --yes", "do not ask")
      .action((id: string, options: { keepBranch?: boolean; discard?: boolean; yes?: boolean }, self: Command) =>
        runner(self, (invocation) => remove(invocation, id, options)),
      ),
    "tandem worktrees remove last",
    "tandem worktrees remove last --keep-branch",
  );
  examples(
    sub("prune", "Remove those of archived and deleted sessions that have no work which is nowhere else.")
      .option("--dry-run", "only say which")
      .addOption(json())
      .action((options: { dryRun?: boolean }, self: Command) =>
        runner(self, (invocation) => prune(invocation, options)),
      ),
    "tandem worktrees prune --dry-run",
  );
}

const MAX_FILES = 20;

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

const open = async (invocation: Invocation): Promise<SessionsClient> =>
  openClient(invocation, await openProjectOrDefaults(invocation), { command: "tandem worktrees" });

/** A worktree may outlive its session, so a full id is used without a lookup. */
const idOf = async (client: SessionsClient, id: string): Promise<string> =>
  id === "last" ? (await findSession(client, id)).id : id;

export async function list(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const worktrees = await client.worktrees.list();
  const { stdout } = invocation;
  if (invocation.json) return write(stdout, `${JSON.stringify({ worktrees }, null, 2)}\n`);
  const { dim, bold } = styleFor(stdout);
  if (worktrees.length === 0) {
    return write(stdout, `${dim('No worktrees. A session gets one of its own with tandem run --worktree "…"')}\n`);
  }
  const rows = worktrees.map((worktree) => [
    worktree.session_id,
    shownState(invocation, worktree),
    bold(printable(worktree.branch)),
    dim(printable(worktree.from === null ? "from no branch" : `from ${worktree.from}`)),
    dim(portsOf(worktree)),
    dim(ago(worktree.created_at)),
  ]);
  await write(stdout, `${table(rows).join("\n")}\n`);
}

export async function show(invocation: Invocation, id: string): Promise<void> {
  await using client = await open(invocation);
  const status = await client.worktrees.status(await idOf(client, id));
  const { stdout } = invocation;
  if (invocation.json) return write(stdout, `${JSON.stringify(status, null, 2)}\n`);
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
    ...(merged ? [[dim("merged"), `${count(merged.commits, "commit")} into ${printable(merged.into)}`]] : []),
    ...(applied ? [[dim("applied"), `${count(applied.files.length, "file")} in ${printable(applied.folder)}`]] : []),
    ...(status.copied > 0 ? [[dim("copied"), `${count(status.copied, "file")} that git does not have`]] : []),
    ...status.skipped.map(({ path, why }) => [dim("not copied"), `${printable(path)}: ${printable(why)}`]),
  ];
  await write(stdout, `${table(rows).join("\n")}\n${filesOf(invocation, status)}`);
}

/** Prints the patch unchanged, for a pager or git. */
export async function diff(invocation: Invocation, id: string): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(client, id);
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
  id: string,
  options: { into?: string; message?: string; dryRun?: boolean; undo?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(client, id);
  const { into, message, dryRun = false, undo = false } = options;
  const params = { ...(into && { into }), ...(message && { message }), dry_run: dryRun, undo };
  const result = await client.worktrees.merge(session, params, localActor());
  const branch = printable(result.into);
  const commits = count(result.commits, "commit");
  const how = result.kind === "merge" ? "by a merge commit" : "by moving it forward";
  const text = undo
    ? `${branch} stands at ${result.after.slice(0, 10)} again, as before the merge.`
    : result.kind === "nothing"
      ? `${branch} has all of it already.`
      : dryRun
        ? `${commits} would go into ${branch}, ${how}.`
        : `${commits} went into ${branch}, ${how}. Take it back: tandem worktrees merge ${session} --undo`;
  const left =
    result.left.length > 0 && !undo
      ? [`Not committed, and only in the worktree: ${result.left.slice(0, 5).map(printable).join(", ")}.`]
      : [];
  await answer(invocation, result, [text, ...left]);
}

export async function patch(
  invocation: Invocation,
  id: string,
  options: { dryRun?: boolean; undo?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(client, id);
  const { dryRun = false, undo = false } = options;
  const result = await client.worktrees.apply(session, { dry_run: dryRun, undo }, localActor());
  const { folder, files } = result;
  const names = files.slice(0, MAX_FILES).map((path) => `  ${printable(path)}`);
  const what = `${count(files.length, "file")} in ${printable(folder)}`;
  const text = undo
    ? `${dryRun ? "Would take back" : "Taken back"}: ${what}`
    : files.length === 0
      ? "Nothing was changed in the worktree."
      : dryRun
        ? `Would change ${what}`
        : `Changed ${what}. Take it back: tandem worktrees patch ${session} --undo`;
  await answer(invocation, result, [text, ...names]);
}

export async function remove(
  invocation: Invocation,
  id: string,
  options: { keepBranch?: boolean; discard?: boolean; yes?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const session = await idOf(client, id);
  const { keepBranch = false, discard = false, yes = false } = options;
  if (discard && !yes) {
    const { unsaved, folder } = await client.worktrees.status(session);
    const lost = unsaved.uncommitted.map((path) => `  ${printable(path)}`).join("\n");
    if (lost) await confirm(invocation, `Lost with ${printable(folder)}:\n${lost}\n`, "Remove it?");
  }
  await client.worktrees.remove(session, { keep_branch: keepBranch, discard }, localActor());
  await answer(invocation, { removed: session }, [`The worktree of ${session} is gone; the session is archived.`]);
}

export async function prune(invocation: Invocation, { dryRun = false }: { dryRun?: boolean }): Promise<void> {
  await using client = await open(invocation);
  const result = await client.worktrees.prune(dryRun, localActor());
  const lines = [
    ...result.removed.map((id) => `${dryRun ? "would go" : "gone"}  ${id}`),
    ...result.kept.map(({ session_id: id, why }) => `kept  ${id}  ${printable(why)}`),
  ];
  await answer(
    invocation,
    result,
    lines.length > 0 ? lines : ["Nothing to remove: every worktree is a live session's."],
  );
}

async function answer({ stdout, json }: Invocation, result: object, lines: readonly string[]): Promise<void> {
  await write(stdout, json ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join("\n")}\n`);
}

function shownState({ stdout }: Invocation, { session }: WorktreeView): string {
  const { good, warn, dim } = styleFor(stdout);
  return { idle: dim, running: good, rescheduling: warn, terminated: dim, archived: dim, gone: warn }[session](session);
}

const portsOf = ({ ports }: WorktreeView): string =>
  ports.count === 1 ? `port ${ports.from}` : `ports ${ports.from}–${ports.from + ports.count - 1}`;

function workOf({ commits, files }: WorktreeStatus): string {
  const lines = files.reduce((sum, file) => [sum[0]! + file.added, sum[1]! + file.removed], [0, 0]);
  return `${count(commits, "commit")}, ${count(files.length, "file")} changed, +${lines[0]} −${lines[1]}`;
}

function unsavedOf({ unsaved: { uncommitted, commits, stashes } }: WorktreeStatus): string {
  return [
    ...(uncommitted.length > 0 ? [`${uncommitted.length} not committed`] : []),
    ...(commits > 0 ? [`${count(commits, "commit")} on no other branch`] : []),
    ...(stashes > 0 ? [count(stashes, "stash", "stashes")] : []),
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
