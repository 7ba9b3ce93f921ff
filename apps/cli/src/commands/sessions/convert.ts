import type { PrintForm } from "@tandem/claude-code";
import { TandemError, type SessionEvent, systemClock } from "@tandem/protocol";
import { resolve } from "node:path";
import { allowedFolder, loadImports, openStore } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { defaultAgent, findEnvironment } from "@tandem/tandem/engine";
import { readLines } from "../../input/read-lines.ts";
import { openClient } from "../../sessions/open-client.ts";
import { styleFor, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";
import { OUTPUT_FORMATS } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[file]", "input file (default: standard input, converted line by line)")
      .addOption(new Option("--from <form>", "format of the input (default: detected)").choices(OUTPUT_FORMATS))
      .option("--import", "also save it as a session")
      .option("--cwd <dir>", "with --import: working folder of the session (default: its own, or this folder)")
      .addOption(json())
      .action(runner(convert)),
    'claude --print --output-format stream-json --verbose "Fix the test" | tandem convert',
    "tandem convert answer.jsonl | jq -c 'select(.type == \"agent.tool_use\")'",
    "tandem convert --import answer.jsonl > events.jsonl",
  );
}

const COMMAND = "tandem convert";

export interface ConvertOptions {
  from?: PrintForm;
  import?: boolean;
  cwd?: string;
}

/** Converts the output of `claude --print` to our events, as JSON lines, without delay. */
export async function convert(
  invocation: Invocation,
  path: string | undefined,
  options: ConvertOptions,
): Promise<void> {
  const isPiped = path === undefined || path === "-";
  if (isPiped && invocation.stdin.isTTY) {
    throw new TandemError("usage", "There is nothing to convert.", {
      fix: 'Name a file, or pipe the output in: claude --print --output-format stream-json --verbose "…" | tandem convert',
    });
  }
  const { PrintedPast } = await loadImports();
  const past = new PrintedPast(systemClock, { form: options.from, isKept: options.import === true });
  const print = async (events: readonly { thread: string | null; event: SessionEvent }[]): Promise<void> => {
    for (const each of events) await write(invocation.stdout, `${JSON.stringify(withThread(each))}\n`);
  };
  for await (const line of readLines(invocation, isPiped ? undefined : path, invocation.signal))
    await print(past.line(line));
  const { events, isWhole } = past.end();
  await print(events);
  if (options.import) await keep(invocation, past, options);
  if (isWhole) return;
  throw new TandemError("cut_off", "The input ended before Claude Code's result.", {
    fix: "The input so far was converted. Claude Code prints its own errors on its standard error.",
  });
}

/** Adds the thread's name to a subagent's events. The primary thread has none. */
const withThread = ({ thread, event }: { thread: string | null; event: SessionEvent }): object =>
  thread === null ? event : { ...event, session_thread_id: thread };

type Past = InstanceType<Awaited<ReturnType<typeof loadImports>>["PrintedPast"]>;

async function keep(invocation: Invocation, past: Past, { cwd }: ConvertOptions): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: COMMAND });
  await using store = await openStore(invocation, project);
  const { agent } = await defaultAgent(client, project.config.llm);
  const here = () => allowedFolder(project, resolve(invocation.cwd, cwd ?? "."));
  const id = await past.store(store, {
    agent,
    place: async (was) => {
      const folder =
        was === undefined || cwd !== undefined ? await here() : await allowedFolder(project, was).catch(here);
      return { folder, environmentId: await findEnvironment(client, folder) };
    },
  });
  const { dim } = styleFor(invocation.stderr);
  await write(
    invocation.stderr,
    invocation.json ? `${JSON.stringify({ session: id })}\n` : `${dim(`Saved as ${id}.`)}\n`,
  );
}
