import { query, type Query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { AsyncQueue, LlmError, type ModelDetails, type Usage } from "@tandem/protocol";
import { Child } from "../child.ts";
import { secretOf, type Credential } from "../credential.ts";
import { checkInit, type Effort, isolatedOptions, TOOL_SERVER, toolId } from "../isolation.ts";
import { aborted, asLlmError, busy, notForgotten, unchecked } from "../process-errors.ts";
import type { ProcessLedger } from "../processes/process-ledger.ts";
import {
  createToolServer,
  HOST_TIMEOUT_MS,
  toolServerKey,
  type ToolCall,
  type ToolDefinition,
} from "../tool-server.ts";
import type { Turn, TurnSetup } from "./turn-setup.ts";
import { exitError, withinDeadline } from "../within-deadline.ts";
import { resultTotals, type TurnOutcome } from "./turn-reader.ts";
import { type Deadlines, failed, RunningTurn } from "./running-turn.ts";

/** Settings that are fixed for the life of a process. Processes with equal fixtures are interchangeable. */
export interface ProcessFixture {
  executable: string;
  folder: string;
  variables: Record<string, string>;
  credential: Credential;
  effort?: Effort;
  system: string | undefined;
}

/** A model that Claude Code offers, with its aliases. */
export interface ListedModel extends ModelDetails {
  id: string;
  name: string;
  aliases: string[];
}

/**
 * One running Claude Code with streaming input. Takes one turn at a time, and forgets the conversation on `reset`. A
 * turn settles exactly once, by whichever comes first: result, deadline, abort or exit.
 */
export class ClaudeProcess {
  readonly startedAt = Date.now();
  turns = 0;
  readonly #fixture: ProcessFixture;
  readonly #deadlines: Deadlines;
  readonly #input = new AsyncQueue<SDKUserMessage>();
  readonly #query: Query;
  #child: Child | undefined;
  #setup: { model: string; toolsKey: string; toolNames: string[] };
  #current: RunningTurn | undefined;
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
          this.#child = new Child(ledger, options, { secret: secretOf(fixture.credential) });
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
                    const mayContinue = await this.#byHost((turn) => turn.afterTools(names));
                    return mayContinue === false ? { continue: false, stopReason: "step budget" } : {};
                  } catch (error) {
                    // Claude Code ignores a hook that throws; the step budget would then be ignored too.
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

  /** The menu has one row per alias, plus one for the default. */
  async models(): Promise<ListedModel[]> {
    const { models } = await this.#within(this.#deadlines.init, "list its models", this.#query.initializationResult());
    const rowsById = Map.groupBy(models, ({ value, resolvedModel }) => resolvedModel ?? value);
    return [...rowsById].map(([id, rows]) => {
      const named = rows.find(({ value }) => value !== "default") ?? rows[0]!;
      const aliases = rows.map(({ value }) => value).filter((value) => value !== id);
      // Absent means unknown, not unsupported.
      const efforts = named.supportsEffort === undefined ? undefined : (named.supportedEffortLevels ?? []);
      const { supportsAdaptiveThinking: adaptive, supportsFastMode: fast } = named;
      const features = {
        ...(adaptive !== undefined && { adaptive_thinking: adaptive }),
        ...(fast !== undefined && { fast_mode: fast }),
      };
      return {
        id,
        name: named.displayName,
        aliases,
        ...(efforts && { efforts }),
        ...(Object.keys(features).length > 0 && { features }),
      };
    });
  }

  /** True as soon as the process has exited, even while its last output is still arriving. */
  get dead(): boolean {
    return this.#death !== undefined || this.#child?.ended === true;
  }

  get residentMb(): number | undefined {
    return this.#child?.residentMb;
  }

  /** An idle process must not keep the host alive. */
  park(): void {
    this.#child?.letGo();
  }

  /** Runs one turn in the current conversation. Never rejects: errors are in the outcome. */
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
      // A half-prepared or interrupted process is in an unknown state; do not reuse it.
      void this.kill();
      return failed(turn.signal.aborted ? aborted() : asLlmError(error), []);
    }
  }

  /**
   * Clears the conversation, its cost and its session, and keeps the process. Rejects if the reset is not confirmed.
   */
  async reset(): Promise<void> {
    const outcome = await this.#converse("/clear", undefined);
    if (outcome.error) throw outcome.error;
  }

  /** Terminates the process, with SIGKILL after the exit deadline. Use `graceMs` 0 where it could still spend money. */
  async kill(graceMs = this.#deadlines.exit): Promise<void> {
    this.#die(new LlmError("aborted", "The Claude Code process was stopped."));
    const killed = this.#child?.kill(graceMs);
    this.#input.end();
    this.#query.close();
    await killed;
  }

  /** Applies the turn's model and tools. Only differences cost a round trip. */
  async #apply({ model, tools }: TurnSetup): Promise<void> {
    const wanted = describeSetup({ model, tools });
    if (wanted.model !== this.#setup.model) {
      await this.#within(this.#deadlines.init, "switch models", this.#query.applyFlagSettings({ model }));
    }
    if (wanted.toolsKey !== this.#setup.toolsKey) {
      // A server re-added under the same name keeps its old tools, so remove it first.
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

  /** Runs the turn owner's code with the idle deadline paused; undefined if there is no turn. */
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

  /** Sends a message and reads up to its result. Without a turn, it is a slash command. */
  async #converse(prompt: string, turn: Turn | undefined): Promise<TurnOutcome> {
    // Two concurrent turns would receive each other's answers.
    const obstacle = this.#death ?? (turn?.signal.aborted ? aborted() : this.#current ? busy() : undefined);
    if (obstacle) {
      void this.kill(0);
      return failed(obstacle, []);
    }
    const current = new RunningTurn(turn, this.#deadlines, () => void this.kill(0));
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
    // Claude Code continues a turn that is settled for us, so the process cannot be reused.
    if (message.type !== "result") return current.fail(outcome.error ?? unchecked());
    current.settle(outcome);
  }

  async #died(reason: string): Promise<void> {
    this.#die(await exitError(this.#child, reason));
    await this.#child?.kill(this.#deadlines.exit);
  }

  #die(error: LlmError): void {
    if (this.#death) return;
    this.#death = error;
    this.#current?.settle(error);
  }

  #within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
    return withinDeadline({ ms, what, child: () => this.#child, failure: () => this.#death }, work);
  }
}

const describeSetup = ({ model, tools }: TurnSetup): { model: string; toolsKey: string; toolNames: string[] } => ({
  model,
  toolsKey: toolServerKey(tools),
  toolNames: tools.map(({ name }) => name),
});

/** Settles with `work`, or rejects when the signal fires; removes its listener in both cases. */
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
