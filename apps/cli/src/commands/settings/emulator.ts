import { once } from "node:events";
import { basename, resolve } from "node:path";
import { TandemError } from "@tandem/protocol";
import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { toPort } from "../../number-options.ts";
import { styleFor, write } from "../../terminal.ts";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[script]", "the model's answers: a .ts or .js module, a .json or .yaml list, or a .jsonl recording")
      .option("--claude-code", "run turns with the real Claude Code and real tools in scratch folders")
      .option("--now <time>", "where the test clock starts, such as 2027-03-27T06:00:00Z (default: now)")
      .option("--port <number>", "port on 127.0.0.1 (default: a free one)")
      .addOption(json())
      .action(runner(emulate)),
    "tandem emulator answers.yaml",
    "tandem emulator answers.ts --claude-code --port 8080",
  );
}

interface EmulatorCommandOptions {
  claudeCode?: boolean;
  now?: string;
  port?: string;
}

async function emulate(
  invocation: Invocation,
  file: string | undefined,
  { claudeCode = false, now, port }: EmulatorCommandOptions,
): Promise<void> {
  const { stdout, json, cwd, signal } = invocation;
  const [{ startEmulator }, { loadScript }] = await Promise.all([
    import("@tandem/emulator"),
    import("@tandem/rehearsal"),
  ]);
  await using emulator = await startEmulator({
    ...(file !== undefined && { script: await loadScript(resolve(cwd, file)) }),
    ...(now !== undefined && { now: toTime(now) }),
    ...(port !== undefined && { port: toPort(port) }),
    claudeCode,
  });
  if (json) {
    const { url, apiKey, variables, folder } = emulator;
    await write(stdout, `${JSON.stringify({ url, api_key: apiKey, variables, folder })}\n`);
  } else {
    const { bold, dim } = styleFor(stdout);
    const model = file === undefined ? "no script yet" : `the script ${basename(file)}`;
    const lines = [
      `${bold("The emulator runs")} at ${emulator.url}, with ${model}.`,
      "",
      ...Object.entries(emulator.variables).map(([name, value]) => `  export ${name}=${value}`),
      "",
      dim(`Sessions work in ${emulator.folder}. Everything is removed at the end. Stop with Ctrl-C.`),
      "",
    ];
    await write(stdout, lines.join("\n"));
  }
  if (!signal.aborted) await once(signal, "abort");
  const { misses, unused } = emulator.model;
  const found = { misses: misses.map(({ message }) => message), unused };
  if (json) return write(stdout, `${JSON.stringify(found)}\n`);
  for (const miss of found.misses) await write(stdout, `${styleFor(stdout).bad("no reply")}  ${miss}\n`);
  for (const entry of unused) await write(stdout, `${styleFor(stdout).warn("not requested")}  ${entry}\n`);
}

function toTime(text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new TandemError("usage", `--now is ${JSON.stringify(text)}.`, {
    fix: "Give a date and time, such as 2027-03-27T06:00:00Z.",
  });
}
