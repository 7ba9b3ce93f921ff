import { useState } from "react";
import { commentId, type LineComment } from "./line-comments.ts";

const keyOf = (session: string): string => `tandem.comments.${session}`;

/** Unsent comments of a session. They survive a reload. */
export function useComments(session: string) {
  const [comments, setComments] = useState<readonly LineComment[]>(() => read(session));
  const keep = (next: readonly LineComment[]): void => {
    setComments(next);
    try {
      if (next.length === 0) localStorage.removeItem(keyOf(session));
      else localStorage.setItem(keyOf(session), JSON.stringify(next));
    } catch {
      // Storage is full or blocked: keep the comments in memory.
    }
  };
  return {
    comments,
    put: (comment: LineComment) =>
      keep([...comments.filter((other) => commentId(other) !== commentId(comment)), comment]),
    drop: (comment: Pick<LineComment, "path" | "key">) =>
      keep(comments.filter((other) => commentId(other) !== commentId(comment))),
    clear: () => keep([]),
  };
}

function read(session: string): readonly LineComment[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(session)) ?? "[]");
    return Array.isArray(stored) ? (stored as LineComment[]) : [];
  } catch {
    return [];
  }
}
