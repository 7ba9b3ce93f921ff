import type { MemoryScope } from "@tandem/context";
import type { LlmRuntime } from "@tandem/runtime";
import { jobModels, loadContext, openContext, openStore } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { parseExpiry } from "../../memories/memory-expiry.ts";
import { showLines } from "../../memories/describe-memory.ts";
import { openProject, userName } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { readPrompt } from "../../input/read-prompt.ts";
import { styleFor, writeResult } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { collect, type Registration } from "../registration.ts";
import { MEMORY_SCOPE_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[words...]", "one statement; stdin is added to it (`-` waits for a slow pipe)")
      .addOption(new Option("--scope <scope>", "scope of the memory").choices(MEMORY_SCOPE_CHOICES).default("project"))
      .option("--agent <name>", "only for this agent")
      .option("--expires <time>", "lifetime: 12h, 90d, 6w, 1y or never", "never")
      .option("--tag <word>", "tag for searches (repeatable)", collect)
      .option("--no-check", "do not check for contradictions with the model")
      .addOption(json())
      .action(runner(remember)),
    'tandem context remember "Revenue excludes refunds"',
    'tandem context remember --expires 90d --tag pricing "The spring discount is 12 percent"',
    'tandem context remember --agent analyst "Prefer CTEs to subqueries"',
  );
}

export interface RememberOptions {
  scope: MemoryScope;
  agent?: string;
  expires: string;
  tag?: string[];
  check: boolean;
}

/** Stores a user's memory at once. */
export async function remember(
  invocation: Invocation,
  words: readonly string[],
  options: RememberOptions,
): Promise<void> {
  const text = await readPrompt(invocation, words, "remember");
  const project = await openProject(invocation);
  const library = await loadContext();
  const expiresAt = parseExpiry("--expires", options.expires);
  // `--agent` implies the agent scope.
  const scope = options.agent === undefined ? options.scope : "agent";
  await using store = await openStore(invocation, project);
  const knowledge = await openContext(project, store);
  const { llm } = await jobModels(invocation, project);
  let opened: LlmRuntime | undefined;
  const ask = async () => (opened ??= await llm?.open(() => {}));
  using progress = new Progress(invocation, "Comparing with existing memories …");
  await using _ = {
    async [Symbol.asyncDispose]() {
      await opened?.close();
    },
  };
  const said = await library.remember(
    knowledge,
    { text, scope, agent: options.agent, tags: options.tag, expiresAt, by: userName() },
    { ...(options.check && { llm: ask }), signal: invocation.signal },
  );
  progress[Symbol.dispose]();
  const { memory, proposal, contradicts, unchecked } = said;
  const value = {
    memory: { ...memory, file: undefined },
    known: proposal === undefined,
    proposal: proposal?.id ?? null,
    contradicts: contradicts.map(({ id, text }) => ({ id, text })),
    unchecked: unchecked ?? null,
  };
  const { dim, good, warn } = styleFor(invocation.stdout);
  const lines = [
    proposal
      ? `${good("Saved.")} ${dim(`Undo: tandem context proposals undo ${proposal.id}`)}`
      : warn("This memory exists already."),
    ...(await showLines(invocation.stdout, memory, contradicts)),
    ...(unchecked === undefined || !options.check ? [] : [dim(`Contradictions were not checked: ${unchecked}.`)]),
  ];
  await writeResult(invocation, value, lines);
}
