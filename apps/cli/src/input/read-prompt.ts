import { TandemError } from "@tandem/protocol";
import { fstatSync } from "node:fs";
import type { Invocation } from "../invocation.ts";

const FIRST_BYTE_DEADLINE_MS = 30_000;
/** How long a pipe may stay silent if the arguments contain a prompt. Hosts often leave an unused pipe open. */
const SILENT_PIPE_MS = 1_000;
const NOTICE_MS = 2_000;
const LONGEST = 32 * 1024 * 1024;
const STANDARD_INPUT = "-";

/** The rule of `readPrompt`, for the help of commands. */
export const STDIN_RULE = "prompt; stdin is added to it. A pipe without data for a second is ignored; `-` waits for it";

/**
 * Reads the prompt from the arguments and then from a file or pipe. Does not read from a terminal or `/dev/null`. With a
 * prompt in the arguments, a pipe without data is left out after a second, unless `-` asks for it. Without one, it is an
 * error after a timeout.
 */
export async function readPrompt(invocation: Invocation, given: readonly string[], command = "text"): Promise<string> {
  const words = given.filter((word) => word !== STANDARD_INPUT);
  const source = sourceOf(invocation.stdin);
  const isOptional = source === "pipe" && words.length > 0 && words.length === given.length;
  const piped = source === "none" ? "" : await readStandardInput(invocation, isOptional);
  const prompt = [words.join(" "), piped].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") {
    throw new TandemError("usage", "The prompt is missing.", {
      fix: `Give it as an argument, tandem ${command} "…", or pipe it in.`,
    });
  }
  return prompt;
}

function sourceOf(stdin: NodeJS.ReadStream): "file" | "pipe" | "none" {
  if (stdin.isTTY) return "none";
  try {
    const info = fstatSync(0);
    if (info.isFile()) return "file";
    return info.isFIFO() || info.isSocket() ? "pipe" : "none";
  } catch {
    // Stdin is closed, as by `<&-`.
    return "none";
  }
}

/** Reads a pipe or file to its end. An optional one that stays silent counts as empty. */
export async function readStandardInput(
  { stdin, stderr, signal, json }: Invocation,
  isOptional = false,
): Promise<string> {
  const silence = new AbortController();
  const notice = setTimeout(() => {
    if (!json) stderr.write("Waiting for standard input …\n");
  }, NOTICE_MS);
  // The check follows the timer by one turn of the event loop: on a busy machine, data may have arrived before it.
  const onSilence = () => setImmediate(() => size === 0 && silence.abort());
  const deadline = setTimeout(onSilence, isOptional ? SILENT_PIPE_MS : FIRST_BYTE_DEADLINE_MS);
  const stop = AbortSignal.any([signal, silence.signal]);
  const chunks: Buffer[] = [];
  let size = 0;
  const onStop = () => stdin.destroy(new Error("stopped"));
  stop.addEventListener("abort", onStop, { once: true });
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      clearTimeout(notice);
      clearTimeout(deadline);
      chunks.push(chunk);
      size += chunk.length;
      if (size > LONGEST) {
        throw new TandemError("usage", `Standard input is longer than ${LONGEST / 1024 / 1024} MB.`, {
          fix: "Shorten it: no model accepts that much.",
        });
      }
    }
  } catch (error) {
    if (signal.aborted) throw new TandemError("aborted", "Interrupted.", { cause: error });
    if (!silence.signal.aborted) throw error;
    if (isOptional) {
      const warning = "Standard input had no data and was ignored. Add - to wait for it.";
      stderr.write(`${json ? JSON.stringify({ warning }) : warning}\n`);
      return "";
    }
    throw new TandemError("usage", `No data on standard input within ${FIRST_BYTE_DEADLINE_MS / 1000} s.`, {
      fix: "Pipe data in, or add < /dev/null to read nothing.",
    });
  } finally {
    clearTimeout(notice);
    clearTimeout(deadline);
    stop.removeEventListener("abort", onStop);
  }
  return Buffer.concat(chunks).toString("utf8");
}
