import { TandemError } from "@tandem/protocol";
import { fstatSync } from "node:fs";
import type { Invocation } from "./invocation.ts";

const FIRST_BYTE_DEADLINE_MS = 30_000;
const NOTICE_MS = 2_000;
const LONGEST = 32 * 1024 * 1024;

/**
 * Reads the prompt from the arguments and then from a pipe. Does not read from a terminal or `/dev/null`. A pipe without data
 * is an error after a timeout, not a hang.
 */
export async function readPrompt(invocation: Invocation, words: readonly string[], command = "text"): Promise<string> {
  const piped = isPiped(invocation.stdin) ? await readAll(invocation) : "";
  const prompt = [words.join(" "), piped].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") {
    throw new TandemError("usage", "There is no prompt.", {
      fix: `Give it as an argument, tandem ${command} "…", or pipe it in.`,
    });
  }
  return prompt;
}

function isPiped(stdin: NodeJS.ReadStream): boolean {
  if (stdin.isTTY) return false;
  try {
    const info = fstatSync(0);
    return info.isFIFO() || info.isFile() || info.isSocket();
  } catch {
    // Stdin is closed, as by `<&-`.
    return false;
  }
}

async function readAll({ stdin, stderr, signal, json }: Invocation): Promise<string> {
  const silence = new AbortController();
  const notice = setTimeout(() => {
    if (!json) stderr.write("Waiting for standard input …\n");
  }, NOTICE_MS);
  const deadline = setTimeout(() => silence.abort(), FIRST_BYTE_DEADLINE_MS);
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
          fix: "Shorten it; no model takes that much.",
        });
      }
    }
  } catch (error) {
    if (signal.aborted) throw new TandemError("aborted", "Interrupted.", { cause: error });
    if (silence.signal.aborted) {
      throw new TandemError("usage", `Nothing came on standard input within ${FIRST_BYTE_DEADLINE_MS / 1000} s.`, {
        fix: "Pipe something in, or add < /dev/null where nothing is meant to be.",
      });
    }
    throw error;
  } finally {
    clearTimeout(notice);
    clearTimeout(deadline);
    stop.removeEventListener("abort", onStop);
  }
  return Buffer.concat(chunks).toString("utf8");
}
