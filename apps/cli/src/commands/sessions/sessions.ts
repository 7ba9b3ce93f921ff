import { newId, STATUS_EVENTS, StatusTimes, TandemError, type Session, type SessionStatus } from "@tandem/protocol";
import { resolve } from "node:path";
import { allowedFolder, loadStorage, openStore } from "@tandem/tandem/compose";
import { confirm } from "../../confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { findAgent } from "@tandem/tandem/engine";
import { readLines } from "../../read-lines.ts";
import { findSession } from "../../sessions/find-session.ts";
import { openClient } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { renderMessages } from "../../sessions/render-messages.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { ago, describeTimes, usd } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, widthOf, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { STATUS_CHOICES } from "../../option-choices.ts";
import type { ImportClaudeOptions } from "./import-claude.ts";
import type { PruneOptions } from "./prune-sessions.ts";

/** Status events that `show` reads. */
const STATUSES_READ = 1_000;

type ImportSessionOptions = ImportClaudeOptions & { fromClaude?: boolean; withWaiting?: boolean };

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("list", "List sessions, the newest first.")
      .option("--limit <number>", "at most so many", "20")
      .option("--agent <id>", "only those of an agent, by id or name")
      .addOption(new Option("--status <status>", "only those that are").choices(STATUS_CHOICES))
      .option("--all", "archived ones too")
      .addOption(json())
      .action((options: ListOptions, self: Command) => runner(self, (invocation) => list(invocation, options))),
    "tandem sessions list",
    "tandem sessions list --status running --json | jq -r '.sessions[].id'",
  );
  examples(
    sub("show", "Print what was said and done in a session.")
      .argument("<session>", "its id; `last` is the newest")
      .option("--limit <number>", "at most so many messages, from the end", "50")
      .addOption(json())
      .action((id: string, options: { limit: string }, self: Command) =>
        runner(self, (invocation) => show(invocation, id, options)),
      ),
    "tandem sessions show last",
  );
  examples(
    sub("export", "Write a session as lines of JSON, with everything but uploaded files.")
      .argument("<session>", "its id; `last` is the newest")
      .option("-o, --output <file>", "a new file, for you alone (default: standard output)")
      .addOption(json())
      .action((id: string, options: { output?: string }, self: Command) =>
        runner(self, (invocation) => exportSession(invocation, id, options)),
      ),
    "tandem sessions export last -o session.jsonl",
    "tandem sessions export last | ssh other tandem sessions import",
  );
  examples(
    sub("import", "Read a session that `export` wrote, or conversations of Claude Code on this machine.")
      .argument(
        "[what...]",
        "a file that you trust (default: standard input); with --from-claude, ids of conversations",
      )
      .option("--from-claude", "read what Claude Code keeps in its own folder, which stays as it is")
      .option("--list", "with --from-claude: only show what is there")
      .option("--all", "with --from-claude: all of them")
      .option("--folder <dir>", "with --from-claude: only those that worked in this folder")
      .option("--since <when>", "with --from-claude: only those changed since a date, or within a span such as 7d")
      .option("--limit <number>", "with --from-claude: show at most so many", "20")
      .option("--as-new", "under a new id, beside the one that is there")
      .option("--cwd <dir>", "the folder that it works in from now on (default: this one; of Claude Code, its own)")
      .option("--with-waiting", "messages that were waiting are put to the model as soon as a server is up")
      .addOption(json())
      .action((what: string[], options: ImportSessionOptions, self: Command) =>
        runner(self, async (invocation) => {
          if (options.fromClaude) return (await import("./import-claude.ts")).importClaude(invocation, what, options);
          return importSession(invocation, what, options);
        }),
      ),
    "tandem sessions import session.jsonl",
    "tandem sessions import --from-claude --list",
    "tandem sessions import --from-claude --all --since 7d",
  );
  examples(
    sub("rm", "Delete sessions for good.")
      .argument("<session...>", "their ids")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((ids: string[], options: { yes?: boolean }, self: Command) =>
        runner(self, (invocation) => remove(invocation, ids, options)),
      ),
    "tandem sessions rm last",
  );
  examples(
    sub("prune", "Delete sessions that have not changed for long.")
      .option("--days <number>", "for so many days", "90")
      .option("--export <dir>", "write each into a file there first, with everything but uploaded files")
      .option("--tenant <id>", "those of a tenant: see `tandem tenants`")
      .option("--dry-run", "only say how many")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((options: PruneOptions, self: Command) =>
        runner(self, async (invocation) => (await import("./prune-sessions.ts")).pruneSessions(invocation, options)),
      ),
    "tandem sessions prune --days 90 --export old",
    "tandem sessions prune --tenant acme --dry-run",
  );
}

const COMMAND = "tandem sessions";
const WIDEST = 100;

export interface ListOptions {
  limit: string;
  all?: boolean;
  agent?: string;
  status?: SessionStatus;
}

export async function list(invocation: Invocation, options: ListOptions): Promise<void> {
  const limit = toCount("--limit", options.limit);
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
  const { data, next } = await client.sessions.list({
    limit,
    order: "desc",
    includeArchived: options.all ?? false,
    ...(options.agent && { agentId: (await findAgent(client, options.agent)).id }),
    ...(options.status && { statuses: [options.status] }),
  });
  const { stdout, json } = invocation;
  if (json) {
    await write(stdout, `${JSON.stringify({ sessions: data }, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(stdout);
  if (data.length === 0) {
    await write(stdout, `${dim('No sessions. Begin one: tandem run "…"')}\n`);
    return;
  }
  const rows = data.map((session) => [
    session.id,
    shownStatus(invocation, session),
    bold(printable(session.title ?? "")),
    dim(printable(session.agent.name)),
    dim(usd(session.usage.list_cost)),
    dim(ago(session.updated_at)),
  ]);
  await write(stdout, `${table(rows).join("\n")}\n${next ? dim(`More with --limit ${limit * 2}.\n`) : ""}`);
}

export async function show(invocation: Invocation, id: string, { limit }: { limit: string }): Promise<void> {
  const { stdout, json } = invocation;
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
  const session = await findSession(client, id);
  const { messages, more } = await client.messages(session.id, toCount("--limit", limit));
  if (json) {
    await write(stdout, `${JSON.stringify({ session, messages }, null, 2)}\n`);
    return;
  }
  const times = { activeMs: session.stats.active_seconds * 1_000, waitedMs: await waitedMs(client, session.id) };
  const style = styleFor(stdout);
  const { dim, bold } = style;
  const head = [
    [dim("session"), session.id],
    [dim("title"), bold(printable(session.title ?? "–"))],
    [dim("status"), shownStatus(invocation, session)],
    [dim("agent"), `${printable(session.agent.name)}, version ${session.agent.version}, ${session.agent.model.id}`],
    [dim("cost"), `${usd(session.usage.list_cost)} at list price`],
    [dim("time"), `active ${describeTimes(times)}`],
    [dim("begun"), `${ago(session.created_at)}, last changed ${ago(session.updated_at)}`],
  ];
  const body = renderMessages(messages, style, Math.min(widthOf(stdout), WIDEST));
  const earlier = more ? dim(`… earlier messages with --limit ${Number(limit) * 2}\n\n`) : "";
  await write(stdout, `${table(head).join("\n")}\n\n${earlier}${body || dim("Nothing has been said yet.")}\n`);
}

/** Time that a session has waited for a person, from its log. */
async function waitedMs(client: SessionsClient, id: string): Promise<number> {
  const newest = await client.newest(id, { limit: STATUSES_READ, types: STATUS_EVENTS });
  const times = new StatusTimes();
  for (const event of newest.toReversed()) times.note(event);
  return times.at(Date.now()).waitedMs;
}

/** Writes to standard output or to a new private file. */
export async function exportSession(
  invocation: Invocation,
  id: string,
  { output }: { output?: string },
): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  const storage = await loadStorage();
  await using store = await openStore(invocation, project);
  const session = id === "last" ? ((await store.sessions.list({ limit: 1 })).data[0]?.id ?? id) : id;
  const lines = storage.exportSession(store, session);
  if (output === undefined) {
    for await (const line of lines) await write(invocation.stdout, `${line}\n`);
    return;
  }
  const file = resolve(invocation.cwd, output);
  const count = await writeExport(lines, file);
  const text = `${session}: ${count} lines in ${file}`;
  await write(
    invocation.stdout,
    invocation.json ? `${JSON.stringify({ session, file, lines: count })}\n` : `${text}\n`,
  );
}

export async function importSession(
  invocation: Invocation,
  [path, ...others]: readonly string[],
  { asNew, cwd, withWaiting = false }: { asNew?: boolean; cwd?: string; withWaiting?: boolean },
): Promise<void> {
  if (others.length > 0) {
    throw new TandemError("usage", "A file holds one session.", { fix: "Import one file after the other." });
  }
  if (path === undefined && invocation.stdin.isTTY) {
    throw new TandemError("usage", "There is nothing to import.", { fix: "Name a file, or pipe one in." });
  }
  const project = await openProjectOrDefaults(invocation);
  const storage = await loadStorage();
  const folder = await allowedFolder(project, resolve(invocation.cwd, cwd ?? "."));
  const { id, waiting } = await (async () => {
    using _ = new Progress(invocation, "Importing …");
    await using store = await openStore(invocation, project);
    const options = { folder, withWaiting, ...(asNew && { id: newId("session") }) };
    return await storage.importSession(store, readLines(invocation, path), options);
  })();
  const left = withWaiting ? 0 : waiting;
  const note = left > 0 ? ` ${left} waiting ${left === 1 ? "message was" : "messages were"} left out.` : "";
  const json = { session: id, folder, left_out: left };
  await write(
    invocation.stdout,
    invocation.json ? `${JSON.stringify(json)}\n` : `${id} is here now, in ${folder}.${note}\n`,
  );
}

export async function remove(
  invocation: Invocation,
  ids: readonly string[],
  { yes }: { yes?: boolean },
): Promise<void> {
  await using client = await openClient(invocation, await openProjectOrDefaults(invocation), { command: COMMAND });
  const sessions: Session[] = [];
  for (const id of ids) sessions.push(await findSession(client, id));
  if (!yes) {
    const names = sessions.map(({ id, title }) => `  ${id}  ${printable(title ?? "")}`).join("\n");
    await confirm(invocation, `For good, with everything that was said:\n${names}\n`, "Delete?");
  }
  for (const { id } of sessions) await client.sessions.delete(id);
  const deleted = sessions.map(({ id }) => id);
  await write(
    invocation.stdout,
    invocation.json ? `${JSON.stringify({ deleted })}\n` : `Deleted ${deleted.join(", ")}.\n`,
  );
}

function shownStatus({ stdout }: Invocation, { status, archived_at: archived }: Session): string {
  const { good, warn, dim } = styleFor(stdout);
  if (archived) return dim("archived");
  return { idle: dim, running: good, rescheduling: warn, terminated: dim }[status](status);
}
