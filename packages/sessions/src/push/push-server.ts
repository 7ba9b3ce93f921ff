import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { HostServer } from "@tandem/claude-code";
import { RequestError, SESSION_METADATA, type SessionEventBody, type SessionId } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import { findRepository, git, isInside, pushFolder, remoteVariables } from "@tandem/workspace";
import { z } from "zod";
import { findSessionRow } from "../log/find-session-row.ts";
import { findBot } from "./find-bot.ts";
import { openPullRequest, type PullRequest } from "./open-pull-request.ts";
import type { PushBot } from "./push-settings.ts";

const TIMEOUT_MS = 15 * 60_000;

const input = z.strictObject({
  title: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe("Summary of the change: first line of the commit, title of the pull request."),
  body: z.string().max(20_000).default("").describe("Why, in a few sentences."),
  branch: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,80}$/, "expected letters, digits, dots and dashes")
    .optional()
    .describe("The branch is tandem/ and this name. Default: the session's id."),
  folder: z.string().default(".").describe("Folder of the repository, below the working folder."),
  pull_request: z.boolean().default(true).describe("Whether to open a pull request."),
  base: z.string().min(1).max(200).optional().describe("Branch that it is to go into. Default: the repository's own."),
  draft: z.boolean().default(false),
});

export interface PushDependencies {
  bots: readonly PushBot[];
  store: Pick<Store, "events" | "sessions">;
  /** For temporary files. */
  stateFolder: string;
  hostVariables: Readonly<Record<string, string | undefined>>;
  record: (session: SessionId, event: SessionEventBody) => Promise<void>;
}

/** The tool by which a session pushes its files as a bot. The token stays in this process. */
export function pushServer(session: SessionId, dependencies: PushDependencies): HostServer {
  return {
    name: "repository",
    timeoutMs: TIMEOUT_MS,
    tools: [
      {
        name: "push_changes",
        description:
          "Commits all changed files of the repository and pushes them to a branch of its remote as a bot, and opens a pull request. The local branch does not change. Use it instead of git push.",
        inputSchema: z.toJSONSchema(input),
        readOnly: false,
        run: async (given, signal) => {
          try {
            return { text: await push(session, input.parse(given), dependencies, signal), isError: false };
          } catch (error) {
            return { text: messageOf(error), isError: true };
          }
        },
      },
    ],
  };
}

async function push(
  session: SessionId,
  wanted: z.output<typeof input>,
  { bots, store, stateFolder, hostVariables, record }: PushDependencies,
  signal: AbortSignal,
): Promise<string> {
  const row = await findSessionRow(store.sessions, session);
  // A link may lead to another repository, whose files the session need not be able to read.
  const folder = await realpath(join(row.folder, wanted.folder)).catch(() => undefined);
  if (folder === undefined || isAbsolute(wanted.folder) || !isInside(row.folder, folder)) {
    throw new RequestError("forbidden", "The folder is not below the session's own.");
  }
  const repository = await findRepository(folder);
  const origin = repository
    ? (await git(repository, ["config", "--get", "remote.origin.url"]).catch(() => "")).trim()
    : "";
  const remote = findBot(origin, bots);
  const token = await remote.bot.token();
  const branch = `tandem/${wanted.branch ?? session.toLowerCase()}`;
  const requester = row.metadata[SESSION_METADATA.requester] ?? null;
  const { commit, isChanged } = await pushFolder({
    folder,
    scratch: stateFolder,
    remote: { url: remote.url, protocol: remote.protocol, token: { origin: remote.origin, secret: token } },
    variables: proxyOnly(hostVariables),
    branch,
    message: commitMessage(wanted, row, requester),
    author: { name: remote.bot.name, email: remote.bot.email },
    previous: await lastCommit(store, session, remote.url, branch),
    signal,
  });
  const pushed = { remote: remote.url, branch, commit, bot: remote.bot.name, requester };
  let opened: PullRequest | null = null;
  try {
    const { title, body, base, draft } = wanted;
    if (wanted.pull_request) {
      const text = `${body}\n\n${requester === null ? "" : `Requested by ${requester}. `}Session ${session}.`.trim();
      opened = await openPullRequest(
        remote,
        token,
        { branch, title, body: text, draft, ...(base !== undefined && { base }) },
        signal,
      );
    }
  } finally {
    // The push has happened, even if the pull request failed.
    await record(session, { type: "tandem.push", ...pushed, pull_request: opened });
  }
  const done = isChanged
    ? `Pushed ${commit.slice(0, 12)} to ${branch} of ${remote.url}.`
    : `${branch} of ${remote.url} has these files already.`;
  return opened ? `${done} Pull request ${opened.number}: ${opened.url}` : done;
}

async function lastCommit(
  store: PushDependencies["store"],
  session: SessionId,
  remote: string,
  branch: string,
): Promise<string | undefined> {
  const events = await store.events.read(session, { order: "desc", limit: 50, types: ["tandem.push"] });
  for (const { event } of events) {
    if (event.type === "tandem.push" && event.remote === remote && event.branch === branch) return event.commit;
  }
  return undefined;
}

function commitMessage(
  { title, body }: z.output<typeof input>,
  { id }: Pick<SessionRow, "id">,
  requester: string | null,
): string {
  const trailers = [...(requester === null ? [] : [`Co-authored-by: ${requester}`]), `Tandem-Session: ${id}`];
  return `${[title, body.trim(), trailers.join("\n")].filter((part) => part !== "").join("\n\n")}\n`;
}

/** With a token, the user's own helpers and settings must not take part. */
function proxyOnly(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(remoteVariables(variables)).filter(([name]) => /proxy|ssl/i.test(name)));
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (error instanceof RequestError) return [error.message, error.fix].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}
