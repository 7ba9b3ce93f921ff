import { TandemError } from "@tandem/protocol";
import { CommanderError } from "commander";
import { inspect } from "node:util";
import { exitCodeOf } from "./exit-code.ts";
import { printable, styleFor, write } from "./terminal.ts";

/** Prints an error with its next step, or with `--json` as one line of JSON. Returns the exit code. */
export async function reportError(
  thrown: unknown,
  { json, debug, stderr }: { json: boolean; debug: boolean; stderr: NodeJS.WriteStream },
): Promise<number> {
  const error = toTandemError(thrown);
  if (json) {
    await write(stderr, `${JSON.stringify({ error: error.toJSON() })}\n`);
  } else {
    const style = styleFor(stderr);
    const fix = error.fix && `${style.dim("→")} ${printable(error.fix)}\n`;
    await write(stderr, `${style.bad("error:")} ${printable(error.message)}\n${fix}`);
  }
  if (debug) await write(stderr, `${inspect(thrown, { depth: 6 })}\n`);
  return exitCodeOf(error.code);
}

/** Converts any thrown value to an error with code, message and fix. */
function toTandemError(thrown: unknown): TandemError {
  if (thrown instanceof TandemError) return thrown;
  if (thrown instanceof CommanderError) return usageError(thrown);
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
  return new TandemError("unexpected", `Something unexpected happened: ${message}`, {
    fix: "Run the same command with --debug and report what it prints.",
    cause: thrown,
  });
}

/** Converts commander's `error: unknown command 'staus'\n(Did you mean status?)` to our format. */
function usageError({ message }: CommanderError): TandemError {
  const [sentence = "", ...hints] = message.replace(/^error: /, "").split("\n");
  const suggestion = hints.join(" ").replace(/^\((.*)\)$/, "$1");
  const text = sentence.charAt(0).toUpperCase() + sentence.slice(1).replace(/\.?$/, ".");
  return new TandemError("usage", text, {
    fix: [suggestion, "Run `tandem --help`, or --help after the command."].filter(Boolean).join(" "),
  });
}
