import type { DiffLine } from "./diff-file.ts";

/** A comment on a line that was not sent yet. */
export interface LineComment extends DiffLine {
  path: string;
  words: string;
}

export const commentId = ({ path, key }: Pick<LineComment, "path" | "key">): string => `${path}\n${key}`;

/** Joins all comments into one message, each with its path, line number and text of the line. */
export function promptOf(comments: readonly LineComment[], about = "your changes"): string {
  const written = comments
    .filter(({ words }) => words.trim() !== "")
    .toSorted((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  const [first] = written;
  if (!first) return "";
  const list = written.map(({ path, line, side, text, words }) => {
    const place = `\`${path}\`, line ${line}${side === "old" ? " (before the change)" : ""}`;
    const code = text.trim() === "" ? "" : `\n${fence(text)}`;
    return `${place}:${code}\n${words.trim()}`;
  });
  const intro = written.length === 1 ? `A comment on ${about}.` : `${written.length} comments on ${about}.`;
  return `${intro}\n\n${list.join("\n\n")}`;
}

/** A fence longer than any backtick run in the text, so that the text cannot close it. */
function fence(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${text}\n${ticks}`;
}
