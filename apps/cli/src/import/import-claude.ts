import { RequestError, systemClock, TandemError } from "@tandem/protocol";
import type { PastFacts, PastSession } from "@tandem/claude-code";
import type { Store } from "@tandem/storage";
import { resolve } from "node:path";
import {
  allowedFolder,
  claudeFolder,
  holderName,
  loadClaudeCode,
  loadImports,
  openStore,
} from "@tandem/tandem/compose";
import { parseDuration, type Project } from "@tandem/tandem/config";
import type { Invocation } from "../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { Progress } from "../progress.ts";
import { defaultAgent, findEnvironment, listAll } from "@tandem/tandem/engine";
import { openClient } from "../sessions/open-client.ts";
import { ago } from "../human-units.ts";
import { toCount } from "../number-options.ts";
import { clip, printable, styleFor, table, widthOf, write, writeJson, writeTable } from "../terminal.ts";

const COMMAND = "tandem sessions import";
const SHORTEST_ID = 4;
const FEWEST_TITLE_CHARACTERS = 24;

export interface ImportClaudeOptions {
  all?: boolean;
  list?: boolean;
  folder?: string;
  since?: string;
  limit: string;
  cwd?: string;
  asNew?: boolean;
}

/** A conversation of Claude Code and its session in Tandem, if any. */
interface Found {
  past: PastSession;
  facts: PastFacts;
  /** The session that imported it or that runs it. */
  session: string | undefined;
  isOurs: boolean;
}

/** Lists or imports the Claude Code conversations of this machine. Never writes to them. */
export async function importClaude(
  invocation: Invocation,
  ids: readonly string[],
  options: ImportClaudeOptions,
): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  await using store = await openStore(invocation, project);
  const found = await find(invocation, store, ids, options);
  if (options.list || (ids.length === 0 && !options.all)) return list(invocation, found, options);
  const chosen = found.filter(({ isOurs }) => !isOurs);
  const [done, failed] = await importAll(invocation, project, store, chosen, options);
  await report(invocation, done, failed);
}

async function find(
  invocation: Invocation,
  store: Store,
  ids: readonly string[],
  { folder, since, all, limit }: ImportClaudeOptions,
): Promise<Found[]> {
  using _ = new Progress(invocation, "Reading …");
  const { findPastSessions, readPastFacts } = await loadClaudeCode();
  const { importedSessionId } = await loadImports();
  const ours = await ownConversations(store);
  const from = since === undefined ? undefined : moment(since);
  const wanted = folder === undefined ? undefined : resolve(invocation.cwd, folder);
  const passed = (await findPastSessions(claudeFolder(invocation.env))).filter(
    ({ changedAt }) => from === undefined || changedAt >= from,
  );
  const candidates = ids.length === 0 ? passed : ids.map((id) => choose(passed, id));
  const most = all || ids.length > 0 ? Infinity : toCount("--limit", limit);
  const found: Found[] = [];
  for (const past of candidates) {
    if (found.length >= most || invocation.signal.aborted) break;
    const facts = await readPastFacts(past);
    if (facts.messages === 0 || (wanted !== undefined && facts.folder !== wanted)) continue;
    const imported = importedSessionId(past.id);
    const session = ours.get(past.id) ?? ((await store.sessions.get(imported)) && imported);
    found.push({ past, facts, session, isOurs: ours.has(past.id) });
  }
  return found;
}

/** Conversations of Tandem's own sessions: Claude Code stores them in the same folder. */
async function ownConversations(store: Store): Promise<Map<string, string>> {
  const own = new Map<string, string>();
  for await (const { id, claudeSession } of listAll((page) => store.sessions.list(page), { includeArchived: true })) {
    if (claudeSession) own.set(claudeSession, id);
  }
  return own;
}

function choose(all: readonly PastSession[], id: string): PastSession {
  const fits = all.filter((past) => past.id === id || (id.length >= SHORTEST_ID && past.id.startsWith(id)));
  const [past, other] = fits;
  if (past && !other) return past;
  const problem = past
    ? `${fits.length} conversations of Claude Code start with ${id}.`
    : `Claude Code has no conversation ${id}.`;
  throw new TandemError("usage", problem, { fix: "List them: tandem sessions import --from-claude --list" });
}

function moment(text: string): Date {
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : new Date(Date.now() - parseDuration("--since", text));
  if (!Number.isNaN(date.getTime())) return date;
  throw new TandemError("usage", `--since is ${JSON.stringify(text)}.`, {
    fix: "Give a date such as 2026-11-01, or a span such as 7d.",
  });
}

interface Done {
  claude_session_id: string;
  session: string;
  outcome: "new" | "more" | "there";
  events: number;
  unreadable: number;
  title: string;
}

async function importAll(
  invocation: Invocation,
  project: Project,
  store: Store,
  found: readonly Found[],
  { cwd, asNew = false }: ImportClaudeOptions,
): Promise<[Done[], { claude_session_id: string; error: RequestError }[]]> {
  if (found.length === 0) return [[], []];
  const { importPastSession } = await loadImports();
  await using client = await openClient(invocation, project, { command: COMMAND });
  const { agent } = await defaultAgent(client, project.config.llm);
  const fallback = () => allowedFolder(project, resolve(invocation.cwd, cwd ?? "."));
  const place = async (was: string | undefined) => {
    const stays = was !== undefined && cwd === undefined;
    const folder = stays ? await allowedFolder(project, was).catch(fallback) : await fallback();
    return { folder, environmentId: await findEnvironment(client, folder) };
  };
  const done: Done[] = [];
  const failed: { claude_session_id: string; error: RequestError }[] = [];
  using progress = new Progress(invocation, "Importing …");
  for (const { past, facts } of found) {
    if (invocation.signal.aborted) break;
    progress.label(`Importing ${past.id} …`);
    try {
      const { id, ...rest } = await importPastSession(store, past, {
        agent,
        place,
        asNew,
        clock: systemClock,
        holder: holderName(COMMAND),
      });
      done.push({ claude_session_id: past.id, session: id, ...rest, title: titleOf(facts) });
    } catch (error) {
      // One failed import must not stop the others.
      if (!(error instanceof RequestError) || found.length === 1) throw error;
      failed.push({ claude_session_id: past.id, error });
    }
  }
  return [done, failed];
}

const WORDS = { new: "imported", more: "updated", there: "exists already" } as const;

async function report(
  invocation: Invocation,
  done: readonly Done[],
  failed: readonly { claude_session_id: string; error: RequestError }[],
): Promise<void> {
  const { dim, bold, good, warn } = styleFor(invocation.stdout);
  const rows = [
    ...done.map(({ session, outcome, events, unreadable, title }) => [
      session,
      outcome === "there" ? dim(WORDS[outcome]) : good(WORDS[outcome]),
      dim(events === 1 ? "1 event" : `${events} events`),
      bold(printable(title)),
      unreadable > 0 ? warn(`${unreadable} unreadable`) : "",
    ]),
    ...failed.map(({ claude_session_id: id, error }) => [id, warn("skipped"), "", error.message, ""]),
  ];
  await writeTable(invocation, { imported: done, failed }, rows, "There is nothing to import.");
}

async function list(
  { stdout, json }: Invocation,
  found: readonly Found[],
  { limit }: ImportClaudeOptions,
): Promise<void> {
  if (json) {
    const conversations = found.map(({ past, facts, session, isOurs }) => ({
      id: past.id,
      file: past.file,
      bytes: past.bytes,
      changed_at: past.changedAt.toISOString(),
      folder: facts.folder ?? null,
      title: facts.title ?? null,
      first_prompt: facts.firstPrompt ?? null,
      messages: facts.messages,
      models: facts.models,
      begun_at: facts.begunAt ?? null,
      last_at: facts.lastAt ?? null,
      session: session ?? null,
      of_tandem: isOurs,
    }));
    await writeJson(stdout, { conversations });
    return;
  }
  const { dim, bold, good } = styleFor(stdout);
  if (found.length === 0) {
    await write(stdout, `${dim("No matching Claude Code conversations on this machine.")}\n`);
    return;
  }
  const rows = found.map(({ past, facts, session, isOurs }) => [
    past.id,
    dim(printable(ago(facts.lastAt ?? past.changedAt.toISOString()))),
    `${facts.messages}`.padStart(4),
    dim(printable(facts.folder ?? "")),
    session === undefined ? "" : isOurs ? dim("Tandem's own") : good("imported"),
    bold(printable(titleOf(facts))),
  ]);
  const taken = Math.max(...table(rows.map((row) => [...row.slice(0, -1), ""])).map((line) => printable(line).length));
  const room = Math.max(FEWEST_TITLE_CHARACTERS, Math.min(widthOf(stdout), 140) - taken);
  const cut = rows.map((row, index) => [
    ...row.slice(0, -1),
    bold(clip(printable(titleOf(found[index]!.facts)), room)),
  ]);
  const more = found.length >= Number(limit) ? dim(`More with --limit ${Number(limit) * 2}.\n`) : "";
  await write(stdout, `${table(cut).join("\n")}\n${more}${dim("Import them by id, or with --all.")}\n`);
}

const titleOf = ({ title, firstPrompt }: PastFacts): string =>
  (title ?? firstPrompt ?? "").replaceAll(/\s+/g, " ").trim();
