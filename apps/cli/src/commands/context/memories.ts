import type { MemoryScope, StoredMemory } from "@tandem/context";
import { capturedMemories, type CapturedMemories } from "@tandem/protocol";
import { loadContext } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { exitCodeOfJob } from "../../exit-code.ts";
import { runContextJob } from "../../jobs/run-context-job.ts";
import { listLines, showLines } from "../../memories/describe-memory.ts";
import { parseExpiry } from "../../memories/memory-expiry.ts";
import { openProject, userName } from "@tandem/tandem/project";
import { styleFor, writeResult } from "../../terminal.ts";
import { withContext } from "../../with-knowledge.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { MEMORY_SCOPE_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string) => sub(name, description).argument("<memory>", "id of the memory");
  examples(
    sub("list", "List memories with their contradictions, newest first.")
      .addOption(new Option("--scope <scope>", "only memories of this scope").choices(MEMORY_SCOPE_CHOICES))
      .option("--agent <name>", "only memories of this agent")
      .option("--all", "include expired memories")
      .addOption(json())
      .action(runner(list)),
    "tandem context memories list",
    "tandem context memories list --json | jq -r '.memories[].text'",
  );
  examples(
    one("show", "Print a memory, its source and its contradictions.").addOption(json()).action(runner(show)),
    "tandem context memories show mem_01K9Z",
  );
  examples(
    one("remove", "Remove a memory. `tandem context proposals undo` restores it.")
      .addOption(json())
      .action(runner(forget)),
    "tandem context memories remove mem_01K9Z",
  );
  examples(
    one("set", "Set when a memory expires.")
      .option("--expires <time>", "12h, 90d, 6w, 1y or never", "never")
      .addOption(json())
      .action(runner(keep)),
    "tandem context memories set mem_01K9Z --expires 1y",
  );
  examples(
    sub("capture", "Extract memories from a session now.")
      .argument("<session>", "id of the memory")
      .addOption(json())
      .action(runner(capture)),
    "tandem context memories capture sesn_01K9Z",
  );
}

/** Time to save progress and end child processes. */
const STOP_MS = 3_000;

export interface MemoryListOptions {
  scope?: MemoryScope;
  agent?: string;
  all?: boolean;
}

export async function list(invocation: Invocation, { scope, agent, all = false }: MemoryListOptions): Promise<void> {
  const library = await loadContext();
  const memories = await withContext(invocation, ({ folder }) => new library.Memories(folder).own());
  const now = new Date();
  const shown = memories
    .filter((memory) => all || !library.isExpired(memory, now))
    .filter(
      (memory) => (scope === undefined || memory.scope === scope) && (agent === undefined || memory.agent === agent),
    )
    .toReversed()
    .map((memory) => ({ memory, against: library.contradictionsOf(memory, memories) }));
  const found = shown.map(({ memory, against }) => asJson(memory, against));
  const none = styleFor(invocation.stdout).dim('No memories yet. Add one: tandem context remember "…"');
  await writeResult(invocation, { memories: found }, shown.length > 0 ? listLines(invocation.stdout, shown) : [none]);
}

export async function show(invocation: Invocation, id: string): Promise<void> {
  const library = await loadContext();
  const { memory, against } = await withContext(invocation, async ({ folder }) => {
    const memories = new library.Memories(folder);
    const found = await library.findMemory(memories, id);
    return { memory: found, against: library.contradictionsOf(found, await memories.own()) };
  });
  await writeResult(invocation, asJson(memory, against), await showLines(invocation.stdout, memory, against));
}

export async function forget(invocation: Invocation, id: string): Promise<void> {
  const library = await loadContext();
  const proposal = await withContext(invocation, (knowledge) =>
    library.forget(knowledge, id.replace(/^memory:/, ""), userName()),
  );
  const { dim, good } = styleFor(invocation.stdout);
  const undo = dim(`Undo: tandem context proposals undo ${proposal.id}`);
  await writeResult(invocation, { memory: id, proposal: proposal.id }, [`${good("Removed.")} ${undo}`]);
}

export async function keep(invocation: Invocation, id: string, { expires }: { expires: string }): Promise<void> {
  const library = await loadContext();
  const expiresAt = parseExpiry("--expires", expires);
  const proposal = await withContext(invocation, (knowledge) =>
    library.keep(knowledge, id.replace(/^memory:/, ""), { by: userName(), expiresAt }),
  );
  const { good } = styleFor(invocation.stdout);
  const told = expiresAt === null ? "Never expires." : `Expires on ${expiresAt.slice(0, 10)}.`;
  await writeResult(invocation, { memory: id, expiresAt, proposal: proposal?.id ?? null }, [good(told)]);
}

/** Captures the memories of a session now. */
export async function capture(invocation: Invocation, session: string): Promise<number> {
  const project = await openProject(invocation);
  const library = await loadContext();
  if (project.config.memory.capture === "off") throw library.captureIsOff();
  invocation.allowToStop(STOP_MS);
  const { row, watched } = await runContextJob(invocation, project, {
    kind: "memory",
    params: { session },
    command: "tandem context memories capture",
    title: "memory",
  });
  const result = capturedMemories.nullable().parse(row.result ?? null);
  const { id: job, state, error } = row;
  const value = { job, state, error, ...result, spent: watched.spent };
  await writeResult(invocation, value, captureLines(invocation, error?.message, result));
  return exitCodeOfJob(row);
}

function captureLines({ stdout }: Invocation, failure: string | undefined, result: CapturedMemories | null): string[] {
  const { dim, good, bad } = styleFor(stdout);
  if (!result) return [bad(`The session could not be processed: ${failure ?? "cancelled."}`)];
  if (result.parts === 0) return ["No new messages since the last capture."];
  const waits = result.found - result.accepted;
  const counts = [
    `${result.found} found`,
    result.accepted > 0 && `${result.accepted} accepted`,
    waits > 0 && `${waits} to review`,
  ];
  return [
    good(`Captured. ${counts.filter(Boolean).join(", ")}.`),
    ...result.proposals.map((id) => dim(`  tandem context proposals show ${id}`)),
  ];
}

const asJson = (memory: StoredMemory, against: readonly StoredMemory[]) => ({
  ...memory,
  file: undefined,
  contradicts: against.map(({ id, text }) => ({ id, text })),
});
