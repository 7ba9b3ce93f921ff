import { RequestError } from "@tandem/protocol";
import type { CommandFile } from "./command-file.ts";
import { argumentOf, lastArgument, parseTemplate, splitArguments, type Piece } from "./template.ts";

export interface CommandDependencies {
  /** Reads a file of the session's folder; rejects with a message. */
  readFile(path: string): Promise<string>;
  /**
   * Runs a shell command and returns its output; rejects if it may not run. The arguments are positional parameters (`$1`,
   * `"$@"`) and the variable `ARGUMENTS`: always data, never code.
   */
  runShell(command: string, words: readonly string[], typed: string): Promise<string>;
}

/**
 * Expands a command. The template is parsed before arguments are inserted, so an argument cannot name a file or run a command
 * unless the template says `@$1`.
 */
export async function expandCommand(
  command: Pick<CommandFile, "name" | "template">,
  typed: string,
  around: CommandDependencies,
): Promise<string> {
  const pieces = parseTemplate(command.template);
  const words = splitArguments(typed);
  const last = lastArgument(pieces);
  const fill = (piece: Piece): string => {
    if (piece.type === "text") return piece.text;
    if (piece.type === "argument") return argumentOf(piece.index, words, last);
    return piece.type === "arguments" ? typed : "";
  };
  // Run in order, as a person reads the template.
  let text = "";
  for (const piece of pieces) {
    switch (piece.type) {
      case "shell":
        text += await around.runShell(piece.command, words, typed);
        break;
      case "file": {
        const path = piece.path.map(fill).join("");
        text += fenced(path, await around.readFile(path));
        break;
      }
      default:
        text += fill(piece);
    }
  }
  // Append the arguments if the template has no place for them.
  const takesNone = last === 0 && !pieces.some(({ type }) => type === "arguments");
  if (takesNone && typed !== "") text += `\n\n${typed}`;
  if (text.trim() !== "") return text.trim();
  throw new RequestError("invalid_request", `The command /${command.name} is empty.`, {
    fix: "Write what it stands for below its front matter.",
  });
}

/** Fences a file's text, so that it cannot be read as part of the command. */
export function fenced(path: string, text: string): string {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${path}:\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}
