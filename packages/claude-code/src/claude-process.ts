import { query, type Query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { LlmError, type Usage } from "@tandem/protocol";
import { Child } from "./child.ts";
import type { Credential } from "./credential.ts";
import { checkInit, type Effort, isolatedOptions, TOOL_SERVER, toolId } from "./isolation.ts";
import { MessageQueue } from "./message-queue.ts";
import type { ProcessLedger } from "./process-ledger.ts";
import { createToolServer, HOST_TIMEOUT_MS, toolServerKey, type ToolCall, type ToolDefinition } from "./tool-server.ts";
import { resultTotals, TurnReader, type TurnOutcome } from "./turn-reader.ts";

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
export interface ListedModel {
  id: string;
  name: string;
  aliases: string[];
}

export interface Deadlines {
  spawn: number;
  init: number;
  firstByte: number;
  idle: number;
  exit: number;
}

/** What can change from turn to turn. */
export interface TurnSetup {
  model: string;
  tools: readonly ToolDefinition[];
}

export interface Turn extends TurnSetup {
  prompt: string;
  signal: AbortSignal;
  callTool: ToolCall;
  /** After each step whose tools have run; whether the turn may go on to another model request. */
  afterTools: (toolNames: string[]) => Promise<boolean>;
}

interface CurrentTurn {
  turn: Turn | undefined;
  reader: TurnReader;
  settle: (outcome: TurnOutcome | LlmError) => void;
  alive: () => void;
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
  #current: CurrentTurn | undefined;
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
          this.#child = new Child(ledger, options);
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
                  const goOn = await this.#byHost((turn) => turn.afterTools(names));
                  return goOn === false ? { continue: false, stopReason: "step budget" } : {};
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
      return { id, name: named.displayName, aliases };
    });
  }

  get dead(): boolean {
    return this.#death !== undefined;
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
    this.#child?.hold();
    this.turns += 1;
    try {
      await Promise.race([this.ready().then(() => this.#apply(turn)), abortOf(turn.signal)]);
      return await this.#converse(turn.prompt, turn);
    } catch (error) {
      // Half-prepared is an unknown state, as is a turn that was cut off.
      void this.kill();
      return failed(turn.signal.aborted ? abortedError() : asLlmError(error), []);
    }
  }

  /** Forgets the conversation, its cost and its session; the process stays. Rejects if that cannot be shown. */
  async reset(): Promise<void> {
    const outcome = await this.#converse("/clear", undefined);
    if (outcome.error) throw outcome.error;
    this.#totals = {};
  }

  async kill(): Promise<void> {
    this.#die(new LlmError("aborted", "The Claude Code process was stopped."));
    this.#input.end();
    this.#query.close();
    await this.#child?.kill(this.#deadlines.exit);
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
    const call: ToolCall = async (name, input, signal) =>
      (await this.#byHost((turn) => turn.callTool(name, input, signal))) ?? {
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
  #converse(prompt: string, turn: Turn | undefined): Promise<TurnOutcome> {
    const reader = new TurnReader();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const watch = (ms: number, phase: string): void => {
        clearTimeout(timer);
        timer = setTimeout(() => fail(timeoutError(phase, ms)), ms);
      };
      const settle = (end: TurnOutcome | LlmError): void => {
        clearTimeout(timer);
        turn?.signal.removeEventListener("abort", onAbort);
        this.#current = undefined;
        resolve(end instanceof LlmError ? failed(end, reader.usedSoFar) : end);
      };
      // A turn that is cut off leaves the process in an unknown state: it goes.
      const fail = (error: LlmError): void => {
        settle(error);
        void this.kill();
      };
      const onAbort = (): void => fail(abortedError());
      if (this.#death) return settle(this.#death);
      this.#current = {
        turn,
        reader,
        settle,
        alive: () => watch(this.#deadlines.idle, "go on with its answer (idle)"),
      };
      turn?.signal.addEventListener("abort", onAbort, { once: true });
      watch(
        turn ? this.#deadlines.firstByte : this.#deadlines.init,
        turn ? "begin its answer (firstByte)" : "forget a conversation (init)",
      );
      this.#input.push({
        type: "user",
        message: { role: "user", content: prompt },
        parent_tool_use_id: null,
        ...(turn && { client_composed: true }),
      });
    });
  }

  async #read(): Promise<void> {
    try {
      for await (const message of this.#query) this.#accept(message);
      this.#died("it ended by itself");
    } catch (error) {
      this.#died(error instanceof Error ? error.message : String(error));
    }
  }

  #accept(message: SDKMessage): void {
    const current = this.#current;
    if (!current) return;
    if (message.type === "system" && message.subtype === "init") {
      try {
        checkInit(message, { toolNames: this.#setup.toolNames, credential: this.#fixture.credential });
      } catch (error) {
        current.settle(asLlmError(error));
        void this.kill();
      }
      return;
    }
    if (message.type === "stream_event" || message.type === "assistant") current.alive();
    const outcome = current.reader.accept(message, this.#totals);
    if (message.type === "result") this.#totals = resultTotals(message);
    if (outcome) current.settle(outcome);
  }

  #died(reason: string): void {
    const tail = this.#child?.stderrTail;
    this.#die(
      new LlmError("process_died", `The Claude Code process died: ${reason}${tail ? ` (stderr: ${tail})` : ""}`),
    );
    void this.#child?.kill(this.#deadlines.exit);
  }

  #die(error: LlmError): void {
    if (this.#death) return;
    this.#death = error;
    this.#current?.settle(error);
  }

  async #within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timeoutError(what, ms)), ms);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw this.#death ?? asLlmError(error);
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

const failed = (error: LlmError, used: TurnOutcome["used"]): TurnOutcome => ({ text: "", answers: 0, used, error });

/** Rejects when the signal fires; never settles otherwise. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(abortedError());
    signal.addEventListener("abort", () => reject(abortedError()), { once: true });
  });

const abortedError = (): LlmError => new LlmError("aborted", "The call was aborted.");

const timeoutError = (what: string, ms: number): LlmError =>
  new LlmError("timeout", `Claude Code did not ${what} within ${ms / 1_000} s.`);

const asLlmError = (error: unknown): LlmError =>
  error instanceof LlmError
    ? error
    : new LlmError("process_died", error instanceof Error ? error.message : String(error), { cause: error });
