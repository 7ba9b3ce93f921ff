import { PAYERS } from "@tandem/tandem/project";
import { formatDuration } from "@tandem/protocol";
import type { Engine, FeedSession } from "@tandem/sessions";
import { homedir } from "node:os";
import type { Invocation } from "../invocation.ts";
import type { Membership } from "@tandem/tandem/fleet";
import { StatusLine } from "../run/status-line.ts";
import { type Style, styleFor, table, widthOf, wrap, write } from "../terminal.ts";
import type { ServerInfo } from "@tandem/tandem/server";

interface Announcement {
  info: Pick<ServerInfo, "url" | "token_file" | "opencode_url" | "database" | "roots" | "payer" | "demo">;
  /** A sign-in link to the page, valid once and for ten minutes. Undefined for a worker, which serves no users. */
  link: string | undefined;
  /** False in a clone where the page was not built. */
  hasPage: boolean;
  /** The browser shows the page already. */
  isOpened: boolean;
  /** Folders that the user added, beside the roots. */
  added: readonly string[];
  /** The fleet membership, if any. */
  member: Pick<Membership, "role" | "machine" | "labels" | "maxSessions" | "tenants"> | undefined;
  engine: Engine;
  warning: string | undefined;
  /** A change of behaviour, said once. */
  news: string | undefined;
  logFile: string;
  /** Time for turns to end after a stop request. */
  stopWithinMs: number;
}

/** As it is, if a later version knows more payers. */
const payerOf = ({ payer }: Pick<ServerInfo, "payer">): string =>
  Object.entries(PAYERS).find(([known]) => known === payer)?.[1] ?? payer;

/** Prints how to connect. On a terminal, then keeps a status line. */
export async function announceServer(invocation: Invocation, announcement: Announcement): Promise<AsyncDisposable> {
  const { info, member, engine, warning, news, logFile, stopWithinMs, added } = announcement;
  const { stdout, json, env } = invocation;
  if (json) {
    await write(
      stdout,
      `${JSON.stringify({ url: info.url, token_file: info.token_file, opencode_url: info.opencode_url })}\n`,
    );
    return { async [Symbol.asyncDispose]() {} };
  }
  const { bold, dim, warn } = styleFor(stdout);
  const home = env["HOME"] || homedir();
  const short = (path: string) => (path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
  const agents = (await engine.agents.list({ limit: 1_000 })).data.length;
  const rows = [
    ...describePage(announcement, { bold, dim, warn }).map((text) => [dim("page"), text]),
    ...(member ? [[dim("fleet"), describeMember(member)]] : []),
    [dim("address"), info.url],
    [dim("token"), `${short(info.token_file)}  ${dim("API key for clients")}`],
    ...(info.opencode_url === undefined ? [] : [[dim("opencode"), `${info.opencode_url}  ${dim("tandem tui")}`]]),
    [dim("folders"), [...info.roots, ...added].map(short).join(", ")],
    [dim("storage"), short(info.database)],
    [dim("agents"), String(agents)],
    [dim("billed to"), info.demo ? warn("not billed: demo") : payerOf(info)],
    [dim("logs"), `${short(logFile)}  ${dim("tandem logs --follow")}`],
  ];
  const notes = [
    ...(info.demo ? DEMO_NOTES : []),
    ...(warning ? [warning] : []),
    ...(news === undefined ? [] : [news]),
    member?.role === "worker"
      ? "Clients connect to servers (`tandem up --as server`). `tandem fleet status` shows all. Ctrl-C hands sessions over and stops."
      : 'Try `tandem run "What is in this folder?"` in another terminal. Ctrl-C stops the server.',
  ];
  const lines = notes.flatMap((note) => wrap(note, widthOf(stdout)));
  await write(stdout, `${table(rows).join("\n")}\n\n${lines.map((line) => dim(line)).join("\n")}\n`);
  return watch(stdout, engine, stopWithinMs);
}

function describePage(
  { link, hasPage, isOpened, info }: Pick<Announcement, "link" | "hasPage" | "isOpened" | "info">,
  { bold, dim, warn }: Pick<Style, "bold" | "dim" | "warn">,
): string[] {
  if (link === undefined) return [];
  if (!hasPage) return [warn("not built. Stop the server, run `npm run build` in the clone and start again.")];
  if (isOpened) return [`${info.url}  ${dim("open in your browser; again with `tandem open`")}`];
  return [`${bold(link)}  ${dim("works once, within 10 minutes; then `tandem open`")}`];
}

function describeMember({ role, machine, labels, maxSessions, tenants }: NonNullable<Announcement["member"]>): string {
  if (role === "server") return "server: serves clients; workers run the turns";
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    `${role === "all" ? "server and worker" : "worker"} on ${machine}`,
    `at most ${maxSessions} sessions`,
    ...(named.length > 0 ? [named.join(" ")] : []),
    ...(tenants ? [`for ${tenants.join(", ")} only`] : []),
  ].join(", ");
}

const DEMO_NOTES = [
  "This is the demo: scripted answers, no model calls, no cost. Nothing leaves this machine.",
  "To use your Claude login, stop the demo, run `tandem login`, then `tandem up` in your project.",
];

async function watch(stdout: NodeJS.WriteStream, engine: Engine, stopWithinMs: number): Promise<AsyncDisposable> {
  const status = new StatusLine(stdout, { counts: false });
  const controller = new AbortController();
  const sessions = new Map<string, FeedSession>();
  const running = () => [...sessions.values()].filter(({ status }) => status === "running").length;
  const watching = (async () => {
    for await (const item of engine.sessions.feed(controller.signal)) {
      if (item.type === "snapshot") for (const session of item.sessions) sessions.set(session.id, session);
      else if (item.type === "changed") sessions.set(item.session.id, item.session);
      else sessions.delete(item.id);
      const waiting = [...sessions.values()].filter((session) => session.waiting_for.length > 0).length;
      if (running() + waiting === 0) status.hide();
      else
        status.show([count(running(), "running"), count(waiting, "waiting for an answer")].filter(Boolean).join(", "));
    }
  })().catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      controller.abort();
      await watching;
      status.hide();
      if (!stdout.isTTY) return;
      const patience = `within ${formatDuration(stopWithinMs)} at the latest; Ctrl-C again stops at once`;
      stdout.write(
        running() > 0
          ? `Stopping after the running turns (${count(running(), "running")}), ${patience}.\n`
          : "Stopping …\n",
      );
    },
  };
}

const count = (n: number, what: string): string => (n === 0 ? "" : `${n} ${n === 1 ? "session" : "sessions"} ${what}`);
