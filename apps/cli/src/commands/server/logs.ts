import { TandemError } from "@tandem/protocol";
import { open, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Invocation } from "../../invocation.ts";
import { logFiles, logFolder } from "@tandem/tandem/server";
import { runningDemo } from "../../sessions/open-client.ts";
import { LOG_LEVELS, readLogLine, renderLogLine, type LogLevel } from "../../server/log-line.ts";
import { toCount } from "../../number-options.ts";
import { styleFor, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";
import { LEVEL_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .option("-f, --follow", "follow new lines until Ctrl-C")
    .option("--session <id>", "only lines about this session")
    .addOption(new Option("--level <level>", "lowest level").choices(LEVEL_CHOICES).default("info"))
    .option("-n, --tail <number>", "number of lines from the end", "100")
    .addOption(json())
    .action(runner(logs));
  examples(command, "tandem logs --follow", "tandem logs --level warn --json");
}

const LOOK_EVERY_MS = 250;

export interface LogsOptions {
  follow?: boolean;
  session?: string;
  level: LogLevel;
  tail: string;
}

/** Prints the server's log. With `--follow`, continues until Ctrl-C. */
export async function logs(invocation: Invocation, options: LogsOptions): Promise<void> {
  const count = toCount("--tail", options.tail);
  const demo = await runningDemo(invocation);
  const files = logFiles(logFolder(demo ? { TANDEM_HOME: dirname(demo.database) } : invocation.env));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  if (texts.every((text) => text === "") && !options.follow) {
    throw new TandemError("not_found", "There are no logs yet.", { fix: "The first `tandem up` writes them." });
  }
  const show = shower(invocation, options);
  const lines = texts.join("").split("\n").flatMap(show);
  if (lines.length > 0) await write(invocation.stdout, `${lines.slice(-count).join("\n")}\n`);
  if (options.follow) await follow(invocation, files.at(-1)!, Buffer.byteLength(texts.at(-1)!), show);
}

/** Formats a log line. Undefined if it is filtered out. */
function shower({ stdout, json }: Invocation, { session, level }: LogsOptions): (line: string) => string[] {
  const style = styleFor(stdout);
  return (line) => {
    if (session !== undefined && !line.includes(session)) return [];
    if (!json) return [renderLogLine(line, level, style)].filter((shown) => shown !== undefined);
    const entry = readLogLine(line);
    return entry && LOG_LEVELS.indexOf(entry.level) >= LOG_LEVELS.indexOf(level) ? [line] : [];
  };
}

async function follow(
  { stdout, signal }: Invocation,
  file: string,
  from: number,
  show: (line: string) => string[],
): Promise<void> {
  let offset = from;
  let rest = "";
  while (!signal.aborted) {
    const size = (await stat(file).catch(() => undefined))?.size ?? 0;
    // The log was rotated. The unread end of the old file is skipped; `tandem logs` without `--follow` shows it.
    if (size < offset) [offset, rest] = [0, ""];
    if (size > offset) {
      const lines = (rest + (await readFrom(file, offset, size))).split("\n");
      offset = size;
      rest = lines.pop()!;
      const shown = lines.flatMap(show);
      if (shown.length > 0) await write(stdout, `${shown.join("\n")}\n`);
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function readFrom(file: string, start: number, end: number): Promise<string> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead).toString("utf8");
}
