import { basename, resolve } from "node:path";
import { formatCassette, type ReplayReport } from "@tandem/protocol";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { Option, type Command } from "commander";
import { describeReplay } from "../../cassettes/describe-replay.ts";
import { readCassette } from "../../cassettes/read-cassette.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import { findSession } from "../../sessions/find-session.ts";
import { openClient } from "../../sessions/open-client.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { printable, styleFor, write, writeJson, writeResult } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";
import { registerFork } from "./cassettes-fork.ts";
import { registerTest } from "./cassettes-test.ts";

export function register(command: Command, registration: Registration): void {
  const { examples, json, runner } = registration;
  const sub = subcommandsOf(command);
  examples(
    sub("export", "Export a session as a cassette: model answers, calls, events and files.")
      .argument("[session]", "session id, or its beginning (default: the last session of this folder)")
      .option("-o, --output <file>", "new private file (default: standard output)")
      .addOption(json())
      .action(runner(exportCassette)),
    "tandem cassettes export sesn_01ABC -o login.cassette.jsonl",
  );
  examples(
    sub("replay", "Run a cassette again without a model and name the first step that differs.")
      .argument("<file>", "cassette")
      .option("--real-tools", "run real Claude Code and real tools in a scratch folder; only the model is recorded")
      .addOption(new Option("--open", "show the result on the page of the running server").conflicts("json"))
      .addOption(json())
      .action(runner(replay)),
    "tandem cassettes replay login.cassette.jsonl",
    "tandem cassettes replay login.cassette.jsonl --real-tools",
    "tandem cassettes replay login.cassette.jsonl --open",
  );
  registerTest(command, registration);
  registerFork(command, registration);
}

interface ReplayOptions {
  realTools?: boolean;
  open?: boolean;
}

/** Writes to standard output or to a new private file. */
export async function exportCassette(
  invocation: Invocation,
  id: string | undefined,
  { output }: { output?: string },
): Promise<void> {
  const { stdout, stderr, json, cwd } = invocation;
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: "tandem cassettes export" });
  const session = await findSession(client, id, invocation);
  const cassette = await client.history.cassette(session.id);
  const { folder, steps } = cassette;
  const leftOut = folder.type === "left_out" ? folder.reason : undefined;
  const text = formatCassette(cassette);
  if (output === undefined) return write(stdout, text);
  const file = resolve(cwd, output);
  await writeExport(text.trimEnd().split("\n"), file);
  if (json)
    return writeJson(stdout, { file, session: session.id, steps: steps.length, folder_left_out: leftOut ?? null });
  await write(stdout, `${steps.length} steps of ${session.id} in ${file}\n`);
  if (leftOut !== undefined)
    await write(stderr, `${styleFor(stderr).warn("!")} Without the folder: ${printable(leftOut)}\n`);
}

/** Returns 1 if the replay differs from the cassette. */
export async function replay(
  invocation: Invocation,
  file: string,
  { realTools = false, open = false }: ReplayOptions,
): Promise<number> {
  const { stdout, cwd, signal } = invocation;
  const cassette = await readCassette(resolve(cwd, file));
  const { replayCassette } = await import("@tandem/emulator");
  const outcome = await replayCassette(cassette, { mode: realTools ? "real_tools" : "recorded", signal });
  const { divergence, steps, mode } = outcome;
  const report: ReplayReport = {
    report: "replay",
    file: basename(file),
    identical: divergence === undefined,
    mode,
    steps,
    divergence: divergence ?? null,
  };
  await writeResult(invocation, report, describeReplay(outcome, basename(file), styleFor(stdout)));
  if (open) await (await import("../../cassettes/open-report.ts")).openReport(invocation, report);
  return divergence ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}
