import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { formatCassette, parseCassette, TandemError, type Cassette } from "@tandem/protocol";
import type { Replay } from "@tandem/emulator";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import type { Command } from "commander";
import { EXIT_CODES } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import { findSession } from "../../sessions/find-session.ts";
import { openClient } from "../../sessions/open-client.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { printable, styleFor, write, writeJson, type Style } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("export", "Export a session as a cassette: model answers, calls, events and files.")
      .argument("[session]", "session id, or its beginning (default: the last session of this folder)")
      .option("-o, --output <file>", "new private file (default: standard output)")
      .addOption(json())
      .action((id: string | undefined, options: { output?: string }, self: Command) =>
        runner(self, (invocation) => exportCassette(invocation, id, options)),
      ),
    "tandem cassettes export sesn_01ABC -o login.cassette.jsonl",
  );
  examples(
    sub("replay", "Run a cassette again without a model and name the first step that differs.")
      .argument("<file>", "cassette")
      .option("--real-tools", "run real Claude Code and real tools in a scratch folder; only the model is recorded")
      .addOption(json())
      .action((file: string, options: ReplayOptions, self: Command) =>
        runner(self, (invocation) => replay(invocation, file, options)),
      ),
    "tandem cassettes replay login.cassette.jsonl",
    "tandem cassettes replay login.cassette.jsonl --real-tools",
  );
}

interface ReplayOptions {
  realTools?: boolean;
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
  await writeExport(linesOf(text), file);
  if (json)
    return writeJson(stdout, { file, session: session.id, steps: steps.length, folder_left_out: leftOut ?? null });
  await write(stdout, `${steps.length} steps of ${session.id} in ${file}\n`);
  if (leftOut !== undefined)
    await write(stderr, `${styleFor(stderr).warn("!")} Without the folder: ${printable(leftOut)}\n`);
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split("\n");
}

/** Returns 1 if the replay differs from the cassette. */
export async function replay(
  invocation: Invocation,
  file: string,
  { realTools = false }: ReplayOptions,
): Promise<number> {
  const { stdout, json, cwd, signal } = invocation;
  const cassette = await readCassette(resolve(cwd, file));
  const { replayCassette } = await import("@tandem/emulator");
  const outcome = await replayCassette(cassette, { mode: realTools ? "real_tools" : "recorded", signal });
  const { divergence, steps, mode } = outcome;
  if (json)
    await writeJson(stdout, { identical: divergence === undefined, mode, steps, divergence: divergence ?? null });
  else await write(stdout, `${describe(outcome, basename(file), styleFor(stdout)).join("\n")}\n`);
  return divergence ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

export async function readCassette(file: string): Promise<Cassette> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new TandemError("cassette_unreadable", `Cannot read ${file}: ${cause.code}.`, {
      fix: "Give the path of a file that `tandem cassettes export` wrote.",
      cause,
    });
  });
  return parseCassette(text);
}

function describe(
  { divergence, steps, mode }: Replay,
  name: string,
  { good, bad, dim, bold, accent }: Style,
): string[] {
  const tools = mode === "real_tools" ? "real tools" : "recorded tools";
  if (!divergence) return [`${good("✓")} ${printable(name)}: ${steps} steps, identical (${tools}).`];
  const { step, kind, expected, actual, diff, from } = divergence;
  const place =
    kind === "folder" ? "The folder differs after the last step." : `Step ${step} of ${steps} (${kind}) differs.`;
  const why =
    from === "events"
      ? "The file was changed: this step contradicts the cassette's own events (+)."
      : expected === null
        ? "The replay continued after the last recorded step (+)."
        : actual === null
          ? "The replay has no such step (-)."
          : "Expected (-) and actual (+):";
  const painted = diff.map((line) => {
    const clean = printable(line);
    if (line.startsWith("@@")) return accent(clean);
    return line.startsWith("+") ? good(clean) : line.startsWith("-") ? bad(clean) : clean;
  });
  return [`${bad("✗")} ${printable(name)}: ${bold(place)}`, dim(why), ...painted];
}
