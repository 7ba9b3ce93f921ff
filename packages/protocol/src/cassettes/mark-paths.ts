import type { LoggedEvent } from "../events/session-event.ts";
import { FOLDER_MARK, PLANS_MARK } from "./cassette.ts";

/** The folders of a session that are elsewhere in every run. */
export interface SessionPaths {
  folder: string;
  /** Claude Code's folder for plans, the only one that plan mode writes to. Undefined if the session has no plan. */
  plans: string | undefined;
}

/** The folder of plans that plan mode allowed a session to write to. */
export function plansFolderIn(events: readonly LoggedEvent[]): string | undefined {
  for (const { event } of events) {
    if (event.type !== "agent.tool_use" || event.evaluated_permission !== "allow") continue;
    const { file_path: path } = event.input;
    if (event.tandem.verdict?.by !== "mode" || typeof path !== "string") continue;
    const folder = /^(\/.+\/plans)\/[^/]+\.md$/.exec(path)?.[1];
    if (folder !== undefined) return folder;
  }
  return undefined;
}

/** Replaces the absolute paths of a session's folders by marks in every text of a value. */
export function markPaths<T>(value: T, { folder, plans }: SessionPaths): T {
  // The folder of plans may be within the session's folder.
  const marked = plans === undefined ? value : markPath(value, plans, PLANS_MARK);
  return markPath(marked, folder, FOLDER_MARK);
}

function markPath<T>(value: T, folder: string, mark: string): T {
  // Not within a longer name: `/work/app` is not in `/work/app-2` or `/data/work/app`.
  const pattern = new RegExp(
    `(?<![\\w-])${folder.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}(?![\\w-]|\\.\\w)`,
    "g",
  );
  return mapTexts(value, (text) => (text.includes(folder) ? text.replaceAll(pattern, mark) : text)) as T;
}

/** Replaces the marks by the paths of another run. */
export const unmarkPaths = <T>(value: T, { folder, plans }: SessionPaths): T =>
  mapTexts(value, (text) => text.replaceAll(FOLDER_MARK, folder).replaceAll(PLANS_MARK, plans ?? PLANS_MARK)) as T;

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapTexts(item, map)]));
}
