import { TandemError } from "@tandem/protocol";

/**
 * The words of a command line as a POSIX shell would split them, without a shell: nothing is expanded, and what only a
 * shell could do (pipes, variables, several commands) is refused instead of being passed on as text.
 */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  // Undefined between words; an empty text is the word that '' makes.
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
  new TandemError("usage", `The command of a secret runs without a shell, where ${char} means nothing.`, {
    fix: `Quote it, or write command:sh -c '…' to use a shell.`,
  });
