import { FOLDER_MARK } from "./cassette.ts";

/** Replaces the absolute path of a folder by `<session-folder>` in every text of a value. */
export function markFolder<T>(value: T, folder: string): T {
  // Not within a longer name: `/work/app` is not in `/work/app-2` or `/data/work/app`.
  const pattern = new RegExp(
    `(?<![\\w-])${folder.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}(?![\\w-]|\\.\\w)`,
    "g",
  );
  return mapTexts(value, (text) => (text.includes(folder) ? text.replaceAll(pattern, FOLDER_MARK) : text)) as T;
}

/** Replaces `<session-folder>` by the path of another folder. */
export const unmarkFolder = <T>(value: T, folder: string): T =>
  mapTexts(value, (text) => text.replaceAll(FOLDER_MARK, folder)) as T;

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapTexts(item, map)]));
}
