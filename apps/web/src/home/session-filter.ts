import type { FeedSession } from "../live/session-feed.ts";
import { type SessionState, stateOf } from "../ui/state-dot.tsx";

/** The filters of the session list, as search parameters. */
export interface HomeSearch {
  q?: string;
  agent?: string;
  folder?: string;
  state?: SessionState;
  archived?: true;
}

export const STATES: readonly SessionState[] = ["waiting", "stuck", "running", "parked", "idle", "ended"];

export function readHomeSearch(search: Record<string, unknown>): HomeSearch {
  const text = (name: string): string | undefined => {
    const value = search[name];
    return typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;
  };
  const [q, agent, folder] = [text("q"), text("agent"), text("folder")];
  const state = STATES.find((name) => name === search["state"]);
  return {
    ...(q !== undefined && { q }),
    ...(agent !== undefined && { agent }),
    ...(folder !== undefined && { folder }),
    ...(state !== undefined && { state }),
    ...(search["archived"] === true && { archived: true }),
  };
}

type SearchableSession = Pick<
  FeedSession,
  "id" | "title" | "agent" | "folder" | "status" | "waiting_for" | "cut_short"
>;

/** Every word must occur in the title, the agent, the folder or the id. */
export function matchesFilter(session: SearchableSession, { q = "", agent, folder, state }: HomeSearch): boolean {
  if (agent !== undefined && session.agent.id !== agent) return false;
  if (folder !== undefined && session.folder !== folder) return false;
  if (state !== undefined && stateOf(session) !== state) return false;
  const text = `${session.title ?? "untitled"} ${session.agent.name} ${session.folder} ${session.id}`.toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export interface Group {
  state: SessionState;
  sessions: FeedSession[];
}

/** Groups by state in order of urgency. Within a group, pinned sessions come first, then the latest. */
export function groupByState(sessions: Iterable<FeedSession>, pinned: ReadonlySet<string>): Group[] {
  const all = [...sessions].sort(
    (a, b) => Number(pinned.has(b.id)) - Number(pinned.has(a.id)) || b.updated_at.localeCompare(a.updated_at),
  );
  return STATES.map((state) => ({ state, sessions: all.filter((session) => stateOf(session) === state) })).filter(
    (group) => group.sessions.length > 0,
  );
}
