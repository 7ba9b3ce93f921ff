/** A part of a command's template. Parsed before arguments are inserted, so that no argument can become one. */
export type Piece =
  | { type: "text"; text: string }
  /** `$1` … `$9`; the highest one in a template takes all remaining arguments. */
  | { type: "argument"; index: number }
  /** `$ARGUMENTS`: all arguments as typed. */
  | { type: "arguments" }
  /** `` !`git status` ``: the command's output. */
  | { type: "shell"; command: string }
  /** `@src/main.ts`: the file's contents. The path may contain arguments. */
  | { type: "file"; path: Piece[] };

const PIECE =
  /!`([^`\n]+)`|\$ARGUMENTS\b|\$([1-9])(?!\d)|(?<![\w`@])@((?:[\w./~-]|\$(?:ARGUMENTS\b|[1-9](?!\d)))*(?:[\w/-]|\$(?:ARGUMENTS\b|[1-9](?!\d))))/g;

export function parseTemplate(template: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of template.matchAll(PIECE)) {
    if (match.index > at) pieces.push({ type: "text", text: template.slice(at, match.index) });
    at = match.index + match[0].length;
    const [whole, shell, argument, path] = match;
    if (shell !== undefined) pieces.push({ type: "shell", command: shell });
    else if (argument !== undefined) pieces.push({ type: "argument", index: Number(argument) });
    else if (path === undefined) pieces.push({ type: "arguments" });
    else if (isPath(path)) pieces.push({ type: "file", path: parsePath(path) });
    else pieces.push({ type: "text", text: whole });
  }
  if (at < template.length) pieces.push({ type: "text", text: template.slice(at) });
  return pieces;
}

/** `@someone` is a name, not a file. */
const isPath = (text: string): boolean => /[./$]/.test(text);

function parsePath(path: string): Piece[] {
  return path
    .split(/(\$ARGUMENTS|\$[1-9])/)
    .filter((part) => part !== "")
    .map((part): Piece => {
      if (part === "$ARGUMENTS") return { type: "arguments" };
      if (/^\$[1-9]$/.test(part)) return { type: "argument", index: Number(part[1]) };
      return { type: "text", text: part };
    });
}

/** Splits words like a shell and removes quotes; no other syntax is interpreted. */
export function splitArguments(typed: string): string[] {
  return [...typed.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

/** The value of `$N`: the highest one in the template takes the rest. */
export function argumentOf(index: number, words: readonly string[], last: number): string {
  return index === last ? words.slice(index - 1).join(" ") : (words[index - 1] ?? "");
}

export function lastArgument(pieces: readonly Piece[]): number {
  return Math.max(
    0,
    ...pieces.map((piece) => {
      if (piece.type === "argument") return piece.index;
      return piece.type === "file" ? lastArgument(piece.path) : 0;
    }),
  );
}
