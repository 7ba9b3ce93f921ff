export interface Span {
  text: string;
  isMarked: boolean;
}

/** Splits a search snippet at its «highlights». An unclosed mark is plain text. */
export function splitMarks(snippet: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const match of snippet.matchAll(/«([^«»]*)»/g)) {
    if (match.index > from) spans.push({ text: snippet.slice(from, match.index), isMarked: false });
    if (match[1] !== "") spans.push({ text: match[1]!, isMarked: true });
    from = match.index + match[0].length;
  }
  if (from < snippet.length) spans.push({ text: snippet.slice(from), isMarked: false });
  return spans;
}
