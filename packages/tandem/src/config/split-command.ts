import { TandemError } from "@tandem/protocol";

/**
 * Splits a command line like a POSIX shell, without running one. Expands nothing. Throws on shell syntax (pipes, variables,
 * several commands) instead of passing it on as text.
 */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  // Undefined between words. An empty string is the word `''`.
  let word: string | undefined;
  let quote: "'" | '"' | undefined;
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    const next = line[i + 1];
    if (char === quote) {
      quote = undefined;
    } else if (quote === "'") {
      word += char;
    } else if (!quote && (char === "'" || char === '"')) {
      quote = char;
      word ??= "";
    } else if (char === "\\" && next !== undefined && (!quote || /["\\$`]/.test(next))) {
      word = (word ?? "") + next;
      i++;
    } else if (quote ? /[$`]/.test(char) : /[|&;<>()$`]/.test(char)) {
      throw needsShell(char);
    } else if (!quote && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote) {
    throw new TandemError("usage", `The command of a secret has an unclosed ${quote}.`, { fix: "Close the quote." });
  }
  if (word !== undefined) words.push(word);
  return words;
}

const needsShell = (char: string) =>
  new TandemError("usage", `The command of a secret runs without a shell, so ${char} has no effect.`, {
    fix: `Quote it, or write command:sh -c '…' to use a shell.`,
  });
