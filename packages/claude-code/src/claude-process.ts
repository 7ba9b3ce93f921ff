import { query, type Query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { LlmError, type ModelDetails, type Usage } from "@tandem/protocol";
import { Child } from "./child.ts";
import { secretOf, type Credential } from "./credential.ts";
import { checkInit, type Effort, isolatedOptions, TOOL_SERVER, toolId } from "./isolation.ts";
import { MessageQueue } from "./message-queue.ts";
import { aborted, asLlmError, busy, notForgotten, timedOut, unchecked } from "./process-errors.ts";
import type { ProcessLedger } from "./process-ledger.ts";
import { createToolServer, HOST_TIMEOUT_MS, toolServerKey, type ToolCall, type ToolDefinition } from "./tool-server.ts";
import type { Turn, TurnSetup } from "./turn.ts";
import { resultTotals, type TurnOutcome } from "./turn-reader.ts";
import { type Deadlines, failed, TurnUnderWay } from "./turn-under-way.ts";

/** What cannot change in the life of a process. Two processes with equal fixtures are interchangeable. */
export interface ProcessFixture {
  executable: string;
  folder: string;
  variables: Record<string, string>;
  credential: Credential;
  effort?: Effort;
  system: string | undefined;
}

/** A model that Claude Code offers, and the aliases that it takes for it. */
export interface ListedModel extends ModelDetails {
  id: string;
  name: string;
  aliases: string[];
}

/**
 * One running Claude Code with streaming input: takes one turn at a time, and forgets the conversation on `reset`.
 * Every way for it to end (result, deadline, abort, death) settles the turn that is under way exactly once.
 */
export class ClaudeProcess {
  readonly startedAt = Date.now();
  turns = 0;
  readonly #fixture: ProcessFixture;
  readonly #deadlines: Deadlines;
  readonly #input = new MessageQueue<SDKUserMessage>();
  readonly #query: Query;
  #child: Child | undefined;
  #setup: { model: string; toolsKey: string; toolNames: string[] };
  #current: TurnUnderWay | undefined;
  #totals: Record<string, Usage> = {};
  #death: LlmError | undefined;

  constructor(fixture: ProcessFixture, deadlines: Deadlines, ledger: ProcessLedger, first: TurnSetup) {
    this.#fixture = fixture;
    this.#deadlines = deadlines;
    this.#setup = describeSetup(first);
    this.#query = query({
      prompt: this.#input,
      options: {
        ...isolatedOptions({
          ...fixture,
          allowTool: (id) => this.#setup.toolNames.some((name) => toolId(name) === id),
        }),
        model: first.model,
        mcpServers: this.#serversFor(first.tools),
        pathToClaudeCodeExecutable: fixture.executable,
        spawnClaudeCodeProcess: (options) => {
          this.#child = new Child(ledger, options, secretOf(fixture.credential));
          return this.#child.process;
        },
        hooks: {
          PostToolBatch: [
            {
              timeout: HOST_TIMEOUT_MS / 1_000,
              hooks: [
                async (input) => {
                  const names =
                    input.hook_event_name === "PostToolBatch" ? input.tool_calls.map((call) => call.tool_name) : [];
                  const current = this.#current;
                  try {
                    const goOn = await this.#byHost((turn) => turn.afterTools(names));
                    return goOn === false ? { continue: false, stopReason: "step budget" } : {};
                  } catch (error) {
                    // A hook that throws would be passed over, and the step budget with it.
                    current?.fail(asLlmError(error));
                    return { continue: false };
                  }
                },
              ],
            },
          ],
        },
      },
    });
    void this.#read();
  }

  /** Resolves when it can take a turn without delay. */
  async ready(): Promise<void> {
    await this.#within(
      this.#deadlines.spawn + this.#deadlines.init,
      "become ready",
      this.#query.initializationResult(),
    );
  }

  /** Its menu has a row for each alias, and one more for the default. */
  async models(): Promise<ListedModel[]> {
    const { models } = await this.#within(this.#deadlines.init, "list its models", this.#query.initializationResult());
    const rowsById = Map.groupBy(models, ({ value, resolvedModel }) => resolvedModel ?? value);
    return [...rowsById].map(([id, rows]) => {
      const named = rows.find(({ value }) => value !== "default") ?? rows[0]!;
      const aliases = rows.map(({ value }) => value).filter((value) => value !== id);
      // Where it does not say, that is not known.
      const efforts = named.supportsEffort === undefined ? undefined : (named.supportedEffortLevels ?? []);
      const { supportsAdaptiveThinking: adaptive, supportsFastMode: fast } = named;
      const features = {
        ...(adaptive !== undefined && { adaptive_thinking: adaptive }),
        ...(fast !== undefined && { fast_mode: fast }),
      };
      return {
        ...{ id, name: named.displayName, aliases },
        ...(efforts && { efforts }),
        ...(Object.keys(features).length > 0 && { features }),
      };
    });
  }

  /** Known at once, while its last words may still be on their way. */
  get dead(): boolean {
    return this.#death !== undefined || this.#child?.ended === true;
  }

  get residentMb(): number | undefined {
    return this.#child?.residentMb;
  }

  /** An idle process lets the host exit. */
  park(): void {
    this.#child?.letGo();
  }

  /** Runs one turn on top of the conversation so far. Never rejects: what went wrong is in the outcome. */
  async run(turn: Turn): Promise<TurnOutcome> {
    if (turn.signal.aborted) return failed(aborted(), []);
    this.#child?.hold();
    this.turns += 1;
    try {
      await orAborted(
        this.ready().then(() => this.#apply(turn)),
        turn.signal,
      );
      return await this.#converse(turn.prompt, turn);
    } catch (error) {
      // Half-prepared is an unknown state, as is a turn that was cut off.
      void this.kill();
      return failed(turn.signal.aborted ? aborted() : asLlmError(error), []);
    }
  }

  /** Forgets the conversation, its cost and its session; the process stays. Rejects if that cannot be shown. */
  async reset(): Promise<void> {
    const outcome = await this.#converse("/clear", undefined);
    if (outcome.error) throw outcome.error;
  }

  /** Asks it to end and, after the exit deadline, makes it; at once where it might still spend something. */
  async kill(graceMs = this.#deadlines.exit): Promise<void> {
    this.#die(new LlmError("aborted", "The Claude Code process was stopped."));
    const killed = this.#child?.kill(graceMs);
    this.#input.end();
    this.#query.close();
    await killed;
  }

  /** Brings model and tools to what the turn wants. Only differences cost a round trip. */
  async #apply({ model, tools }: TurnSetup): Promise<void> {
    const wanted = describeSetup({ model, tools });
    if (wanted.model !== this.#setup.model) {
      await this.#within(this.#deadlines.init, "switch models", this.#query.applyFlagSettings({ model }));
    }
    if (wanted.toolsKey !== this.#setup.toolsKey) {
      // A server that reappears under a known name keeps its old tools, so it has to leave first.
      if (this.#setup.toolNames.length > 0) {
        await this.#within(this.#deadlines.init, "drop its tools", this.#query.setMcpServers({}));
      }
      if (tools.length > 0) {
        const { errors } = await this.#within(
          this.#deadlines.init,
          "take new tools",
          this.#query.setMcpServers(this.#serversFor(tools)),
        );
        const problem = Object.values(errors)[0];
        if (problem) throw new LlmError("process_died", `Claude Code did not take the tools: ${problem}`);
      }
    }
    this.#setup = wanted;
  }

  #serversFor(tools: readonly ToolDefinition[]): Record<string, ReturnType<typeof createToolServer>> {
    if (tools.length === 0) return {};
    const call: ToolCall = async (name, input, signal, toolUseId) =>
      (await this.#byHost((turn) => turn.callTool(name, input, signal, toolUseId))) ?? {
        text: "This call has ended.",
        isError: true,
      };
    return { [TOOL_SERVER]: createToolServer(tools, call) };
  }

  /** Runs code of the turn's owner, while which Claude Code need give no sign of life; undefined if there is no turn. */
  async #byHost<T>(work: (turn: Turn) => Promise<T>): Promise<T | undefined> {
    const current = this.#current;
    if (!current?.turn) return undefined;
    const stillRunning = (): void => {
      if (this.#current === current) current.alive();
      else clearInterval(timer);
    };
    const timer = setInterval(stillRunning, 1_000);
    stillRunning();
    try {
      return await work(current.turn);
    } finally {
      clearInterval(timer);
      stillRunning();
    }
  }

  /** Sends a message and reads up to its result. A turn of ours is sent as text; without one it is a command. */
  async #converse(prompt: string, turn: Turn | undefined): Promise<TurnOutcome> {
    // Two turns at once would get each other's answers.
    const obstacle = this.#death ?? (turn?.signal.aborted ? aborted() : this.#current ? busy() : undefined);
    if (obstacle) {
      void this.kill(0);
      return failed(obstacle, []);
    }
    const current = new TurnUnderWay(turn, this.#deadlines, () => void this.kill(0));
    this.#current = current;
    this.#input.push({
      type: "user",
      message: { role: "user", content: prompt },
      parent_tool_use_id: null,
      ...(turn && { client_composed: true }),
    });
    try {
      return await current.outcome;
    } finally {
      if (this.#current === current) this.#current = undefined;
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const message of this.#query) this.#accept(message);
      await this.#died("it ended by itself");
    } catch (error) {
      await this.#died(error instanceof Error ? error.message : String(error));
    }
  }

  #accept(message: SDKMessage): void {
    const current = this.#current;
    if (!current) return;
    if (message.type === "system" && message.subtype === "init") {
      try {
        checkInit(message, { toolNames: this.#setup.toolNames, credential: this.#fixture.credential });
        current.checked = true;
      } catch (error) {
        current.fail(asLlmError(error));
      }
      return;
    }
    if (message.type === "conversation_reset") current.forgotten = true;
    if (message.type === "system" && message.subtype === "status" && message.status === "requesting") current.asked();
    if (message.type === "stream_event" || message.type === "assistant") current.alive();
    const outcome = current.reader.accept(message, this.#totals);
    if (message.type === "result") this.#totals = resultTotals(message);
    if (!outcome) return;
    if (!current.checked) return current.fail(unchecked());
    if (!current.turn && !current.forgotten) return current.fail(notForgotten());
    // Claude Code has more to say in a turn that is over for us.
    if (message.type !== "result") return current.fail(outcome.error ?? unchecked());
    current.settle(outcome);
  }

  async #died(reason: string): Promise<void> {
    this.#die(await this.#obituary(reason));
    await this.#child?.kill(this.#deadlines.exit);
  }

  async #obituary(reason: string): Promise<LlmError> {
    const tail = await this.#child?.stderrTail();
    return new LlmError("process_died", `The Claude Code process died: ${reason}${tail ? ` (stderr: ${tail})` : ""}`);
  }

  #die(error: LlmError): void {
    if (this.#death) return;
    this.#death = error;
    this.#current?.settle(error);
  }

  async #within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timedOut(what, ms)), ms);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      if (this.#death || error instanceof LlmError) throw this.#death ?? error;
      throw await this.#obituary(error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(timer);
    }
  }
}

const describeSetup = ({ model, tools }: TurnSetup): { model: string; toolsKey: string; toolNames: string[] } => ({
  model,
  toolsKey: toolServerKey(tools),
  toolNames: tools.map(({ name }) => name),
});

/** Settles as the work does, or rejects when the signal fires; leaves no listener behind. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(aborted());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
