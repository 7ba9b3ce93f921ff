import { type Agent, type Environment, ENVIRONMENT_METADATA, type Session, SESSION_METADATA } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import { type Attachment, blocksOf } from "../../prompt/use-attachments.ts";
import { StoredValue } from "../../live/stored-value.ts";

/**
 * Options of a new session. Empty strings mean the default of the agent or the config. Stored in localStorage, so the
 * field names are fixed.
 */
export interface SessionOptions {
  /** Empty: create a default agent. */
  agent: string;
  /** The id of an environment, `worktree:FOLDER`, or `folder` to use the `folder` field. */
  place: string;
  folder: string;
  ownWorktree: boolean;
  model: string;
  effort: string;
  mode: string;
  /** The amount in dollars, as typed. */
  budget: string;
  /** Ids of vaults whose credentials it may use. */
  vaults?: readonly string[];
}

export const lastOptions = new StoredValue<SessionOptions>("tandem.start", {
  agent: "",
  place: "",
  folder: "",
  ownWorktree: false,
  model: "",
  effort: "",
  mode: "",
  budget: "",
});

const TITLE = 80;
const FALLBACK_MODEL = "sonnet";

/** The first line of the prompt, shortened between words. */
export function titleOf(prompt: string): string {
  const line = prompt.trim().split("\n", 1)[0] ?? "";
  if (line.length <= TITLE) return line;
  const cut = line.slice(0, TITLE - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), TITLE / 2)).trimEnd()} …`;
}

/** Undefined for an empty input, NaN for an invalid one. */
export function readBudget(text: string): number | undefined {
  const trimmed = text
    .trim()
    .replace(/^\$\s*/, "")
    .replace(",", ".");
  if (trimmed === "") return undefined;
  const usd = /^\d+(\.\d{1,2})?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  return usd > 0 ? usd : Number.NaN;
}

interface FirstMessage {
  prompt: string;
  files: readonly Attachment[];
}

export async function startSession(
  { prompt, files }: FirstMessage,
  choices: SessionOptions,
  known: readonly Environment[],
): Promise<Session> {
  const agent = choices.agent === "" ? (await createAgent(choices.model)).id : choices.agent;
  const environment = await environmentOf(choices, known);
  const budget = readBudget(choices.budget);
  const metadata = Object.fromEntries(
    [
      [SESSION_METADATA.model, choices.model],
      [SESSION_METADATA.effort, choices.effort],
      [SESSION_METADATA.permissionMode, choices.mode],
    ].filter(([, value]) => value !== ""),
  ) as Record<string, string>;
  const text = prompt.trim();
  const content = [...blocksOf(files), ...(text === "" ? [] : [{ type: "text" as const, text }])];
  return api.call("sessions.create", {
    body: {
      agent,
      environment_id: environment,
      ...(content.length > 0 && {
        title: titleOf(text === "" ? (files[0]?.name ?? "") : text),
        initial_events: [{ type: "user.message", content, tandem: { commands: true } }],
      }),
      metadata,
      ...(choices.vaults && choices.vaults.length > 0 && { vault_ids: [...choices.vaults] }),
      ...(budget !== undefined && {
        budget: { type: "limit", max_list_cost: { amount: String(Math.round(budget * 100)), currency: "USD" } },
      }),
    },
  });
}

const createAgent = (model: string): Promise<Agent> =>
  api.call("agents.create", {
    body: {
      name: "Claude Code",
      description: "Created by the page for the first session.",
      model: model === "" ? FALLBACK_MODEL : model,
      tools: [{ type: "agent_toolset_20260401" }],
      multiagent: { type: "multiagent_20261001", workflows: { type: "disabled" } },
    },
  });

/** Reuses a matching environment or creates one. */
async function environmentOf(
  { place, folder, ownWorktree }: SessionOptions,
  known: readonly Environment[],
): Promise<string> {
  const { path, isolation, branch } = ENVIRONMENT_METADATA;
  const isOther = place === "folder";
  if (!isOther && !place.startsWith("worktree:")) return place;
  const requestedFolder = isOther ? folder.trim() : place.slice("worktree:".length);
  const kind = !isOther || ownWorktree ? "worktree" : undefined;
  const there = known.find(
    ({ metadata }) =>
      metadata[path] === requestedFolder && metadata[isolation] === kind && metadata[branch] === undefined,
  );
  if (there) return there.id;
  const made = await api.call("environments.create", {
    body: {
      name: `${requestedFolder}${kind === undefined ? "" : " (worktrees)"}`.slice(-256),
      metadata: { [path]: requestedFolder, ...(kind !== undefined && { [isolation]: kind }) },
    },
  });
  return made.id;
}
