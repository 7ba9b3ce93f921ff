import type { MemoryFile, MemoryScope } from "@tandem/context";
import { type ContextMemory, MissingVariable, missingVariable } from "@tandem/protocol";
import { loadContext } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { connectContext, type ContextConnection, missingInServer } from "../../context-connection.ts";
import type { Invocation } from "../../invocation.ts";
import { parseExpiry } from "../../memories/memory-expiry.ts";
import { showLines } from "../../memories/describe-memory.ts";
import { openProject, userName } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { readPrompt } from "../../input/read-prompt.ts";
import { styleFor, writeResult } from "../../terminal.ts";
import { openKnowledge } from "../../with-knowledge.ts";
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

/** Memories per request to the server. */
const PAGE = 500;

export interface RememberOptions {
  scope: MemoryScope;
  agent?: string;
  expires: string;
  tag?: string[];
  check: boolean;
}

/** Stores a user's memory at once: in the server that runs on this context, else in this process. */
export async function remember(
  invocation: Invocation,
  words: readonly string[],
  options: RememberOptions,
): Promise<void> {
  const text = await readPrompt(invocation, words, "remember");
  const project = await openProject(invocation);
  const { agent, tag: tags = [], check } = options;
  // `--agent` implies the agent scope.
  const scope = agent === undefined ? options.scope : "agent";
  const statement: Statement = { text, scope, agent, tags, expiresAt: parseExpiry("--expires", options.expires) };
  using progress = new Progress(invocation, "Comparing with existing memories …");
  using server = await connectContext(invocation, project);
  const said = server
    ? await rememberInServer(invocation, server, statement, check)
    : await rememberHere(invocation, project, statement, check);
  progress[Symbol.dispose]();
  const { memory, proposal, contradicts, unchecked } = said;
  const value = {
    memory: { ...memory, file: undefined },
    known: proposal === undefined,
    proposal: proposal ?? null,
    contradicts: contradicts.map(({ id, text: other }) => ({ id, text: other })),
    unchecked: unchecked ?? null,
  };
  const { dim, good, warn } = styleFor(invocation.stdout);
  const lines = [
    proposal
      ? `${good("Saved.")} ${dim(`Undo: tandem context proposals undo ${proposal}`)}`
      : warn("This memory exists already."),
    ...(await showLines(invocation.stdout, memory, contradicts)),
    ...(unchecked === undefined || !options.check ? [] : [dim(`Contradictions were not checked: ${unchecked}.`)]),
  ];
  await writeResult(invocation, value, lines);
}

interface Statement {
  text: string;
  scope: MemoryScope;
  agent: string | undefined;
  tags: string[];
  expiresAt: string | null;
}

interface Remembered {
  memory: MemoryFile;
  /** Id of the accepted proposal; absent if the memory already existed. */
  proposal: string | undefined;
  contradicts: MemoryFile[];
  unchecked: string | undefined;
}

const rememberHere = (
  invocation: Invocation,
  project: Project,
  statement: Statement,
  check: boolean,
): Promise<Remembered> =>
  openKnowledge(invocation, project, "tandem context remember", async ({ context, openModel }) => {
    const library = await loadContext();
    const { memory, proposal, contradicts, unchecked } = await library.remember(
      context,
      { ...statement, by: userName() },
      { ...(check && { openModel }), signal: invocation.signal },
    );
    return { memory, proposal: proposal?.id, contradicts, unchecked };
  });

async function rememberInServer(
  invocation: Invocation,
  { api, server }: ContextConnection,
  { expiresAt, agent, ...statement }: Statement,
  check: boolean,
): Promise<Remembered> {
  const body = {
    ...statement,
    expires_at: expiresAt,
    ...(agent !== undefined && { agent }),
    // Sent only if it differs from the default: an older server does not know it.
    ...(!check && { check }),
  };
  const { signal } = invocation;
  const { memory, proposal, unchecked } = await api
    .call("context.memories.create", { body, signal })
    .catch((error: unknown) => {
      const variable = missingVariable(error);
      const fix = missingInServer(variable === undefined ? [] : [variable], invocation, server, "compares memories");
      if (variable === undefined || fix === undefined) throw error;
      throw new MissingVariable(variable, `The secret env:${variable} is not set in the server.`, { fix });
    });
  return {
    memory: toFile(memory),
    proposal: proposal ?? undefined,
    contradicts: await findMemories(api, memory.contradicts),
    unchecked: unchecked ?? undefined,
  };
}

async function findMemories(api: ContextConnection["api"], ids: readonly string[]): Promise<MemoryFile[]> {
  const found: ContextMemory[] = [];
  for (let page: string | null | undefined; found.length < ids.length && page !== null;) {
    const answer = await api.call("context.memories.list", { query: { limit: PAGE, ...(page && { page }) } });
    found.push(...answer.data.filter(({ id }) => ids.includes(id)));
    page = answer.next_page;
  }
  return ids.flatMap((id) => found.filter((memory) => memory.id === id)).map(toFile);
}

function toFile(memory: ContextMemory): MemoryFile {
  const { id, scope, agent, user, text, tags, updated_at: updatedAt, sources, contradicts } = memory;
  return {
    id,
    scope,
    ...(agent !== null && { agent }),
    ...(user !== null && { user }),
    text,
    tags,
    createdAt: memory.created_at,
    ...(updatedAt !== null && { updatedAt }),
    expiresAt: memory.expires_at,
    sources,
    contradicts,
  };
}
