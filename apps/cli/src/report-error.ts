import { TandemError } from "@tandem/protocol";
import { type Command, CommanderError } from "commander";
import { inspect } from "node:util";
import { asCalled } from "./called-as.ts";
import { examplesOf } from "./commands/registration.ts";
import { exitCodeOf } from "./exit-code.ts";
import { printable, styleFor, write } from "./terminal.ts";

/** Prints an error with its next step, or with `--json` as one line of JSON. Returns the exit code. */
export async function reportError(
  thrown: unknown,
  { json, debug, stderr, command }: { json: boolean; debug: boolean; stderr: NodeJS.WriteStream; command: Command },
): Promise<number> {
  const error = thrown instanceof CommanderError ? usageError(thrown, command) : toTandemError(thrown);
  if (json) {
    await write(stderr, `${JSON.stringify({ error: error.toJSON() })}\n`);
  } else {
    const style = styleFor(stderr);
    const fix = error.fix && `${style.dim("→")} ${asCalled(printable(error.fix))}\n`;
    await write(stderr, `${style.bad("error:")} ${asCalled(printable(error.message))}\n${fix}`);
  }
  if (debug) await write(stderr, `${inspect(thrown, { depth: 6 })}\n`);
  return exitCodeOf(error.code);
}

/** Converts any thrown value to an error with code, message and fix. */
function toTandemError(thrown: unknown): TandemError {
  if (thrown instanceof TandemError) return thrown;
  if (thrown instanceof Error && thrown.name === "AbortError") return new TandemError("aborted", "Interrupted.");
  const { code, fix } = thrown as NodeJS.ErrnoException & { fix?: unknown };
  // The rehearsal has its own error class of the same shape.
  if (thrown instanceof Error && code !== undefined && typeof fix === "string") {
    return new TandemError(code, thrown.message, { fix, cause: thrown });
  }
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new TandemError("disk_full", "The disk is full.", { fix: "Free some space and try again.", cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new TandemError("unexpected", `Unexpected error: ${message}`, {
    fix: "Run the command with --debug and report the output.",
    cause: thrown,
  });
}

/** Errors about the shape of a command line. The messages of others name the allowed values. */
const SHOWS_USAGE = new Set([
  "commander.missingArgument",
  "commander.missingMandatoryOptionValue",
  "commander.optionMissingArgument",
  "commander.excessArguments",
]);

/** Converts commander's `error: unknown command 'staus'\n(Did you mean status?)` to our format, with the command's usage. */
function usageError({ message, code }: CommanderError, command: Command): TandemError {
  const [sentence = "", ...hints] = message.replace(/^error: /, "").split("\n");
  const suggestion = hints.join(" ").replace(/^\((.*)\)$/, "$1");
  const text = sentence.charAt(0).toUpperCase() + sentence.slice(1).replace(/\.?$/, ".");
  return new TandemError("usage", text, {
    fix: suggestion || (SHOWS_USAGE.has(code) ? usageOf(command) : helpHint(command)),
  });
}

/** `Usage: tandem config set [options] <key> <value>. Example: tandem config set llm.models.triage haiku`. */
function usageOf(command: Command): string {
  const [example] = examplesOf(command);
  if (example === undefined) return helpHint(command);
  return `Usage: ${command.createHelp().commandUsage(command)}\n  Example: ${example}`;
}

function helpHint(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each?.parent; each = each.parent) names.unshift(each.name());
  return names.length === 0 ? "List all commands with `tandem help --all`." : `Run \`tandem help ${names.join(" ")}\`.`;
}
