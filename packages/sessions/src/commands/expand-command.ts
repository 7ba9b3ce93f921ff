import { RequestError } from "@tandem/protocol";
import type { CommandFile } from "./command-file.ts";
import { argumentOf, lastArgument, parseTemplate, splitArguments, type Piece } from "./template.ts";

export interface CommandDependencies {
  /** What a file of the session's folder holds; rejects in words. */
  readFile(path: string): Promise<string>;
  /**
   * What a shell command prints; rejects in words where it may not run. The arguments are its positional parameters
   * (`$1`, `"$@"`) and its variable `ARGUMENTS`: data, whatever they look like.
   */
  runShell(command: string, words: readonly string[], typed: string): Promise<string>;
}

/**
 * What a command stands for. The template is taken apart first and filled then: an argument is text, and can neither name
 * another file nor run anything, unless the template says `@$1`.
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
  // One after the other: what a person reads from top to bottom should also happen so.
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
  // Whoever gives arguments to a command that has no place for them means them to be read.
  const takesNone = last === 0 && !pieces.some(({ type }) => type === "arguments");
  if (takesNone && typed !== "") text += `\n\n${typed}`;
  if (text.trim() !== "") return text.trim();
  throw new RequestError("invalid_request", `The command /${command.name} is empty.`, {
    fix: "Write what it stands for below its front matter.",
  });
}

/** A file's text, so that it cannot be taken for words of the command. */
export function fenced(path: string, text: string): string {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${path}:\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}
