import { RequestError, TandemError } from "@tandem/protocol";
import { type Command, Option } from "commander";
import { createInterface } from "node:readline/promises";
import type { Invocation } from "../../invocation.ts";
import { EFFORT_CHOICES } from "../../option-choices.ts";
import { isSessionId } from "../../sessions/find-session.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { modeOption, type Registration } from "../registration.ts";
import { allowOption, bypassOption, outputFormatOption, run, type RunOptions } from "./run.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .usage("[options] [session] [prompt...]")
    .argument(
      "[words...]",
      "session id (default: the last session of this folder) and prompt; stdin is added to the prompt",
    )
    .addOption(modeOption("--permission-mode <mode>", "permission mode from now on"))
    .option("-m, --model <name>", "model from now on")
    .addOption(new Option("--effort <level>", "reasoning effort from now on").choices(EFFORT_CHOICES))
    .option("--max-turns <number>", "maximum number of model requests")
    .option("--max-budget-usd <dollars>", "spending limit of the session, at list price")
    .addOption(outputFormatOption())
    .addOption(allowOption())
    .addOption(bypassOption())
    .addOption(json())
    .action(runner(resume));
  examples(
    command,
    'tandem resume "Now fix the other test"',
    'tandem resume sesn_01JAB "Now fix the other test"',
    "tandem resume",
  );
}

const open = clientFor("tandem resume");

async function resume(invocation: Invocation, given: readonly string[], options: RunOptions): Promise<number> {
  const [first, ...rest] = given;
  const id = isSessionId(first) ? first : undefined;
  const words = id === undefined ? given : rest;
  const isInteractive = invocation.stdin.isTTY && invocation.stderr.isTTY && !invocation.json;
  // Until 0.2, a bare `tandem resume` ended `tandem stop --all`.
  if (words.length === 0) await refuseIfStopped(invocation);
  const prompt = words.length === 0 && isInteractive ? [await ask(invocation)] : words;
  return run(invocation, prompt, { ...options, resume: id ?? true });
}

async function refuseIfStopped(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const stopped = await client.killSwitch.state();
  if (!stopped) return;
  throw new RequestError("conflict", `Everything was stopped by ${stopped.by}, so no session can continue.`, {
    fix: "Undo that with `tandem stop --undo`. `tandem resume` continues one session.",
  });
}

async function ask({ stdin, stderr, signal }: Invocation): Promise<string> {
  const terminal = createInterface({ input: stdin, output: stderr });
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    return await terminal.question("What should the agent do next? ", { signal });
  } catch (cause) {
    throw new TandemError("aborted", "Interrupted.", { cause });
  } finally {
    terminal.close();
  }
}
