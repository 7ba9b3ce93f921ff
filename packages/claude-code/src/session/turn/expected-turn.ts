import type { SDKMessage, SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import type { LlmError } from "@tandem/protocol";
import type { ConversationOutput, ConversationSetup } from "../conversation.ts";
import { TurnWatchdog } from "./turn-watchdog.ts";

/** State of the turn according to Claude Code's messages. */
type Progress = { readonly underWay: boolean; readonly waitsForTools: boolean };

/** The messages that were sent, and the turn that must follow them or an earlier process. */
export class ExpectedTurn {
  readonly #progress: Progress;
  readonly #watchdog: TurnWatchdog;
  /** Sent messages that the model has not received; each settles when Claude Code has it. */
  readonly #sent = new Map<string, PromiseWithResolvers<void>>();
  #continues: boolean;
  #hasTaken = false;
  #end = Promise.withResolvers<void>();

  constructor(setup: ConversationSetup, progress: Progress, onLate: (error: LlmError) => void) {
    this.#progress = progress;
    this.#watchdog = new TurnWatchdog(setup.deadlines, onLate);
    this.#continues = setup.continuation !== undefined;
    if (this.#continues) this.#watchdog.begin();
  }

  get isExpected(): boolean {
    return this.#progress.underWay || this.#sent.size > 0 || this.#continues;
  }

  /**
   * A resumed process first reports the workflow runs that died with an earlier one, as a turn without a request. The turn that
   * it was started for follows; its message may not even be sent yet.
   */
  isOfLostRun({ num_turns: turns }: SDKResultMessage): boolean {
    return turns === 0 && !this.#hasTaken;
  }

  /** Resolves when the running turn has ended. */
  get end(): Promise<void> {
    return this.#end.promise;
  }

  send(uuid: string): void {
    this.#sent.set(uuid, Promise.withResolvers());
    if (!this.#progress.underWay || !this.#hasTaken) this.#watchdog.begin();
  }

  /** Claude Code has the message, in its queue or already in the conversation. */
  confirm(uuid: string): void {
    this.#sent.get(uuid)?.resolve();
  }

  /** Resolves when Claude Code has the message; undefined if the model received it, or if it was never sent. */
  confirmed(uuid: string): Promise<void> | undefined {
    return this.#sent.get(uuid)?.promise;
  }

  async allConfirmed(): Promise<void> {
    await Promise.all([...this.#sent.values()].map(({ promise }) => promise));
  }

  takeBack(uuid: string): void {
    this.#sent.delete(uuid);
    if (!this.isExpected) this.rest();
  }

  /** The turn of the earlier process does not continue. */
  cancel(): void {
    this.#continues = false;
    this.rest();
  }

  /** Stops the deadlines. */
  rest(): void {
    this.#watchdog.rest();
  }

  observe(message: SDKMessage): void {
    this.#watchdog.observe(message, this.#progress);
  }

  /** Returns whether the output concerns the caller: an earlier process may have reported the message. */
  take(output: ConversationOutput): boolean {
    if (output.type === "turn_ended") this.#continues = this.#hasTaken = false;
    if (output.type !== "message_taken") return true;
    this.#hasTaken = true;
    return this.#sent.delete(output.uuid);
  }

  endTurn(): void {
    this.#end.resolve();
    this.#end = Promise.withResolvers();
    if (this.#sent.size > 0) this.#watchdog.begin();
  }
}
