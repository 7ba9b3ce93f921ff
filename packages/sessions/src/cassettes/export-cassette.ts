import { arch, platform } from "node:os";
import {
  CASSETTE_VERSION,
  markPaths,
  plansFolderIn,
  redactText,
  redactValue,
  SESSION_METADATA,
  stepsOf,
  TandemError,
  type Cassette,
  type CassetteFolder,
  type CassetteHeader,
  type CassetteStep,
  type KeptRule,
  type LoggedEvent,
  type PermissionMode,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { logEvents, type SessionRow, type Store } from "@tandem/storage";
import { createFolderBundle, type CheckpointStores } from "@tandem/workspace";
import manifest from "../../package.json" with { type: "json" };
import { FilesOfSession } from "../checkpoints/files-of-session.ts";
import { readPast } from "../checkpoints/session-past.ts";
import { servedEvents } from "../log/event-redactor.ts";
import { ruledSession } from "../rules/ruled-session.ts";
import type { Rules } from "../rules/kept-rules.ts";

const LIMITS = { maxBytes: 16 * 1024 * 1024, maxFiles: 10_000 };
/** Settings that name other things of the server, or that a replay has no use for. */
const OWN_SETTINGS: ReadonlySet<string> = new Set([
  SESSION_METADATA.worktree,
  SESSION_METADATA.requester,
  SESSION_METADATA.forkedFrom,
  SESSION_METADATA.importedFrom,
]);

export interface CassetteDependencies {
  store: Pick<Store, "events">;
  checkpointStores: CheckpointStores | undefined;
  rules: Pick<Rules, "list">;
  /** The server's default. */
  permissionMode: PermissionMode | undefined;
  clock: Clock;
}

/** A session as a cassette, in any state. Credentials are redacted as in the events that clients see. */
export async function exportCassette(parts: CassetteDependencies, row: SessionRow): Promise<Cassette> {
  const log = servedEvents(await readLog(parts.store, row));
  const paths = { folder: row.folder, plans: plansFolderIn(log) };
  const events = markPaths(log, paths);
  const steps = stepsOf(events);
  return {
    header: markPaths(redactValue(await describe(parts, row, events, steps)), paths),
    steps,
    events,
    folder: await bundleFolder(parts, row),
  };
}

async function readLog({ events }: Pick<Store, "events">, { id }: SessionRow): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  for await (const logged of logEvents(events, id)) all.push(logged);
  return all;
}

async function describe(
  { rules, permissionMode, clock }: CassetteDependencies,
  row: SessionRow,
  events: readonly LoggedEvent[],
  steps: readonly CassetteStep[],
): Promise<CassetteHeader> {
  const init = events.find(({ event }) => event.type === "tandem.init")?.event;
  const { name, description, model, system, tools, mcp_servers, skills, multiagent } = row.agent;
  const settings = Object.entries(row.metadata).filter(([key]) => key.startsWith("tandem.") && !OWN_SETTINGS.has(key));
  const now = ruledSession(row, row.id, permissionMode ? { permissionMode } : {}).mode ?? "default";
  return {
    tandem_cassette: CASSETTE_VERSION,
    session_id: row.id,
    title: row.title,
    created_at: row.createdAt,
    exported_at: isoNow(clock),
    tandem_version: manifest.version,
    claude_code_version: init?.type === "tandem.init" ? init.claude_code_version : null,
    platform: `${platform()} ${arch()}`,
    sandbox: init?.type === "tandem.init" && init.sandbox?.on === true,
    agent: { name, description, model, system, tools, mcp_servers, skills, multiagent },
    settings: Object.fromEntries(settings),
    permission_mode: firstMode(events) ?? now,
    rules: (await rulesOf(rules, row)).map(({ tool, pattern, action, reason, scope, source }) => ({
      tool,
      ...(pattern !== undefined && { pattern }),
      action,
      ...(reason !== undefined && { reason }),
      scope,
      source,
    })),
    budget: row.budget,
    ...totals(steps),
  };
}

/** The mode before the first change: `plan` if a person approved a plan. Undefined if it never changed. */
function firstMode(events: readonly LoggedEvent[]): PermissionMode | undefined {
  const change = events.findIndex(({ event }) => event.type === "tandem.mode");
  if (change === -1) return undefined;
  const isPlan = events
    .slice(0, change)
    .some(({ event }) => event.type === "user.tool_confirmation" && event.tandem?.mode !== undefined);
  return isPlan ? "plan" : "default";
}

/** The rules that applied at the beginning. Those that answers of the session saved are saved again by a replay. */
async function rulesOf(rules: Pick<Rules, "list">, row: SessionRow): Promise<KeptRule[]> {
  const owners = new Set<string>([row.id, row.agent.id, row.folder]);
  return (await rules.list()).filter(
    ({ scope, of, id, created_at: at }) =>
      (scope === "user" || id === null || (of !== null && owners.has(of))) && (at === null || at < row.createdAt),
  );
}

function totals(steps: readonly CassetteStep[]): Pick<CassetteHeader, "usage" | "usd"> {
  const usage = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  let usd = 0;
  for (const step of steps) {
    if (step.kind !== "model" || step.answer?.type !== "message") continue;
    usd += step.answer.usd ?? 0;
    for (const key of KEYS) usage[key] += step.answer.usage[key];
  }
  return { usage, usd: Math.round(usd * 1e8) / 1e8 };
}

const KEYS = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const;

async function bundleFolder(
  { store, checkpointStores }: CassetteDependencies,
  row: SessionRow,
): Promise<CassetteFolder> {
  if (!checkpointStores) return leftOut("Checkpoints are off on the server (`checkpoints.enabled`).");
  if (row.selfHosted) return leftOut("A worker of a self-hosted environment has the folder.");
  const past = await readPast(store.events, row.id);
  const [first] = past.marks;
  if (!first) return leftOut("The session has no checkpoint.");
  try {
    const files = await FilesOfSession.open(checkpointStores, row, past);
    const before = await files.find(first.checkpoint);
    const bundle = async (after: typeof before): Promise<CassetteFolder> => {
      const made = await createFolderBundle(files.store, { before, after }, { redact: redactText, limits: LIMITS });
      return { type: "bundle", ...made, bundle: made.bundle.toString("base64") };
    };
    const last = past.marks.at(-1);
    // During a turn, the files are as they are now.
    return last && last.kind !== "before"
      ? await bundle(await files.find(last.checkpoint))
      : await files.looking(bundle);
  } catch (error) {
    // The rest of the session is worth an export without its files.
    if (error instanceof TandemError) return leftOut(error.message);
    throw error;
  }
}

const leftOut = (reason: string): CassetteFolder => ({ type: "left_out", reason });
