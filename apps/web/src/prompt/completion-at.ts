/** The completion at the caret: a command at the start of the text, a file anywhere. */
export interface CompletionTarget {
  kind: "command" | "file";
  /** The part of the name typed so far. */
  query: string;
  from: number;
  to: number;
}

export function completionAt(text: string, caret: number): CompletionTarget | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command) return { kind: "command", query: command[1]!, from: 0, to: caret };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file) return { kind: "file", query: file[1]!, from: caret - file[1]!.length - 1, to: caret };
  return undefined;
}

/** The text with the completed name, and the new caret position. */
export function completed(
  text: string,
  { from, to, kind }: CompletionTarget,
  name: string,
): { text: string; caret: number } {
  const put = `${kind === "command" ? "/" : "@"}${name} `;
  const rest = text.slice(to).replace(/^ /, "");
  return { text: text.slice(0, from) + put + rest, caret: from + put.length };
}
