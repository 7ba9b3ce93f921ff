import { newId, STATUS_EVENTS, StatusTimes, TandemError, type Session, type SessionStatus } from "@tandem/protocol";
import { resolve } from "node:path";
import { allowedFolder, loadStorage, openStore } from "@tandem/tandem/compose";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import type { Project } from "@tandem/tandem/config";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { findAgent } from "@tandem/tandem/engine";
import { readLines } from "../../input/read-lines.ts";
import type { ImportClaudeOptions } from "../../import/import-claude.ts";
import { findSession, SESSION_ARGUMENT } from "../../sessions/find-session.ts";
import { clientFor, openClient } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { renderMessages } from "../../sessions/render-messages.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { ago, describeTimes, usd } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, widthOf, write, writeJson } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { STATUS_CHOICES } from "../../option-choices.ts";

/** Status events that `show` reads. */
const STATUSES_READ = 1_000;

type ImportSessionOptions = ImportClaudeOptions & { fromClaude?: boolean; withWaiting?: boolean };

export function register(command: Command, { examples, json, runner }: Registration): void {
  command.addHelpText("after", "\nAlso: tandem run, resume, stop, diff, rewind and fork.");
  const sub = subcommandsOf(command);
  examples(
    sub("list", "List sessions, newest first.")
      .option("--limit <number>", "maximum number of sessions", "20")
      .option("--agent <id>", "only sessions of this agent, by id or name")
      .addOption(new Option("--status <status>", "only sessions with this status").choices(STATUS_CHOICES))
      .option("--all", "include archived sessions")
      .addOption(json())
      .action(runner(list)),
    "tandem sessions list",
    "tandem sessions list --status running --json | jq -r '.sessions[].id'",
  );
  examples(
    sub("show", "Print the messages and tool calls of a session.")
      .argument("[session]", SESSION_ARGUMENT)
      .option("--limit <number>", "number of messages from the end", "50")
      .addOption(json())
      .action(runner(show)),
    "tandem sessions show last",
  );
  examples(
    sub("export", "Export a session as JSON lines, without uploaded files.")
      .argument("[session]", SESSION_ARGUMENT)
      .option("-o, --output <file>", "new private file (default: standard output)")
      .addOption(json())
      .action(runner(exportSession)),
    "tandem sessions export last -o session.jsonl",
    "tandem sessions export last | ssh other tandem sessions import",
  );
  examples(
    sub("import", "Import an exported session, or conversations of Claude Code on this machine.")
      .argument("[what...]", "trusted file (default: standard input); with --from-claude, conversation ids")
      .option("--from-claude", "import from Claude Code's own folder, which is not changed")
      .option("--list", "with --from-claude: only list the conversations")
      .option("--all", "with --from-claude: import all")
      .option("--folder <dir>", "with --from-claude: only conversations of this folder")
      .option(
        "--since <when>",
        "with --from-claude: only conversations changed since a date, or within a span such as 7d",
      )
      .option("--limit <number>", "with --from-claude: maximum number to list", "20")
      .option("--as-new", "import under a new id, next to an existing session")
      .option("--cwd <dir>", "working folder from now on (default: this folder; with --from-claude, its own)")
      .option("--with-waiting", "also import queued messages; the next server sends them to the model")
      .addOption(json())
      .action(
        runner(async (invocation, what: string[], options: ImportSessionOptions) => {
          if (!options.fromClaude) return importSession(invocation, what, options);
          const { importClaude } = await import("../../import/import-claude.ts");
          return importClaude(invocation, what, options);
        }),
      ),
    "tandem sessions import session.jsonl",
    "tandem sessions import --from-claude --list",
    "tandem sessions import --from-claude --all --since 7d",
  );
  examples(
    sub("remove", "Delete sessions permanently.")
      .argument("<session...>", "session ids")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(remove)),
    "tandem sessions remove last",
  );
}

const COMMAND = "tandem sessions";
const open = clientFor(COMMAND);
const WIDEST = 100;

export interface ListOptions {
  limit: string;
  all?: boolean;
  agent?: string;
  status?: SessionStatus;
}

export async function list(invocation: Invocation, options: ListOptions): Promise<void> {
  const limit = toCount("--limit", options.limit);
  await using client = await open(invocation);
  const { data, next } = await client.sessions.list({
    limit,
    order: "desc",
    includeArchived: options.all ?? false,
    ...(options.agent && { agentId: (await findAgent(client, options.agent)).id }),
    ...(options.status && { statuses: [options.status] }),
  });
  const { stdout, json } = invocation;
  if (json) return writeJson(stdout, { sessions: data });
  const { dim, bold } = styleFor(stdout);
  if (data.length === 0) {
    await write(stdout, `${dim('No sessions. Start one: tandem run "…"')}\n`);
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

export async function show(
  invocation: Invocation,
  id: string | undefined,
  { limit }: { limit: string },
): Promise<void> {
  const { stdout, json } = invocation;
  await using client = await open(invocation);
  const session = await findSession(client, id, invocation);
  const { messages, more } = await client.messages(session.id, toCount("--limit", limit));
  if (json) return writeJson(stdout, { session, messages });
  const times = { activeMs: session.stats.active_seconds * 1_000, waitedMs: await waitedMs(client, session.id) };
  const style = styleFor(stdout);
  const { dim, bold } = style;
  const head = [
    [dim("session"), session.id],
    [dim("title"), bold(printable(session.title ?? "–"))],
    [dim("status"), shownStatus(invocation, session)],
    ...session.outcome_evaluations.slice(-1).map(({ result }) => [dim("outcome"), result.replaceAll("_", " ")]),
    [dim("agent"), `${printable(session.agent.name)}, version ${session.agent.version}, ${session.agent.model.id}`],
    [dim("cost"), `${usd(session.usage.list_cost)} at list price`],
    [dim("time"), `active ${describeTimes(times)}`],
    [dim("created"), `${ago(session.created_at)}, last changed ${ago(session.updated_at)}`],
  ];
  const body = renderMessages(messages, style, Math.min(widthOf(stdout), WIDEST));
  const earlier = more ? dim(`… show earlier messages with --limit ${Number(limit) * 2}\n\n`) : "";
  await write(stdout, `${table(head).join("\n")}\n\n${earlier}${body || dim("No messages yet.")}\n`);
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
  id: string | undefined,
  { output }: { output?: string },
): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  const storage = await loadStorage();
  await using store = await openStore(invocation, project);
  const session = id === undefined || id === "last" ? await findId(invocation, project, id) : id;
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

async function findId(invocation: Invocation, project: Project, id: string | undefined): Promise<string> {
  await using client = await openClient(invocation, project, { command: COMMAND });
  return (await findSession(client, id, invocation)).id;
}

export async function importSession(
  invocation: Invocation,
  [path, ...others]: readonly string[],
  { asNew, cwd, withWaiting = false }: { asNew?: boolean; cwd?: string; withWaiting?: boolean },
): Promise<void> {
  if (others.length > 0) {
    throw new TandemError("usage", "A file contains one session.", { fix: "Import one file at a time." });
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
  const note = left > 0 ? ` ${left} queued ${left === 1 ? "message was" : "messages were"} not imported.` : "";
  const json = { session: id, folder, left_out: left };
  await write(
    invocation.stdout,
    invocation.json ? `${JSON.stringify(json)}\n` : `Imported ${id} into ${folder}.${note}\n`,
  );
}

export async function remove(
  invocation: Invocation,
  ids: readonly string[],
  { yes }: { yes?: boolean },
): Promise<void> {
  await using client = await open(invocation);
  const sessions: Session[] = [];
  for (const id of ids) sessions.push(await findSession(client, id, invocation));
  if (!yes) {
    const names = sessions.map(({ id, title }) => `  ${id}  ${printable(title ?? "")}`).join("\n");
    await confirm(invocation, `This permanently deletes these sessions and their messages:\n${names}\n`, "Delete?");
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
