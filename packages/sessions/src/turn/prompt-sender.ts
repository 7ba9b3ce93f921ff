import type { Conversation } from "@tandem/claude-code";
import { RequestError, type EventOf } from "@tandem/protocol";
import type { ApprovalRequests, LateAnswers } from "../approvals/approval-requests.ts";
import { commandOf } from "../commands/session-commands.ts";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import { promptOf } from "../log/outcome-prompt.ts";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import { LateCalls } from "./late-calls.ts";
import { isKept, lostMessages, messageUuid } from "./lost-messages.ts";
import { ProcessWait } from "./process-wait.ts";
import type { QuotaWait } from "./quota-wait.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnMachine } from "./turn-machine.ts";
import type { Turn } from "./turn-state.ts";

type UserMessage = EventOf<"user.message">;

/** A message, or what a new process needs to continue a turn. */
export interface Prompt {
  message?: UserMessage;
  late?: LateAnswers;
  isAfterReset?: true;
}

interface PromptDependencies {
  machine: TurnMachine;
  holder: ConversationHolder;
  hooks: TurnHooks;
  quotaWait: QuotaWait;
  requests: ApprovalRequests;
}

const NOTHING_LATE: LateAnswers = { results: [], calls: [] };

/** Sends Claude the prompt that begins or continues a turn, in the running process or a new one. */
export class PromptSender {
  readonly #dependencies: TurnDependencies;
  readonly #parts: PromptDependencies;
  readonly #lateCalls: LateCalls;
  readonly #processWait: ProcessWait;
  /** Conversations that have got a prompt. */
  readonly #prompted = new WeakSet<Conversation>();

  constructor(dependencies: TurnDependencies, parts: PromptDependencies) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#lateCalls = new LateCalls({ ...dependencies, ...parts });
    this.#processWait = new ProcessWait(dependencies, parts);
  }

  /** The last message of the open turn if the stored transcript does not contain it. */
  async unsentMessage(): Promise<UserMessage | undefined> {
    const { store, writer } = this.#dependencies;
    const last = this.#parts.machine.turn?.messages.at(-1);
    const event = last && (await store.events.find(writer.row.id, last))?.event;
    const message = event && promptOf(event);
    if (!message || (await isKept(store.transcripts, writer.row, message.id))) return undefined;
    return message;
  }

  /** Rejects if the turn was stopped meanwhile, or cannot begin. */
  async send(id: number, { message: given, late = NOTHING_LATE, isAfterReset }: Prompt): Promise<void> {
    const { store, writer, commands } = this.#dependencies;
    const { holder, hooks, quotaWait } = this.#parts;
    this.#check(id);
    const message = given ?? (isAfterReset && (await this.unsentMessage()));
    if (message) await quotaWait.check(message);
    this.#check(id);
    // Before the hooks: they count the time of the turn.
    await this.#processWait.reserve(message?.tandem?.by ?? "");
    const { startedAt, messages } = this.#check(id);
    const turn = { message: message?.id ?? null, opening: messages[0] ?? null, startedAt };
    await hooks.before(turn, (events) => writer.write(events));
    if (!message) {
      // A call may run as soon as its process starts.
      hooks.prepare();
      if (isAfterReset) await hooks.prepared();
      this.#check(id);
      const conversation = await (isAfterReset ? holder.open() : this.#lateCalls.run(late, () => this.#check(id)));
      if (isAfterReset) quotaWait.resume(conversation);
      this.#prompted.add(conversation);
      this.#begun(id);
      if (this.#isInterrupted(id)) await conversation.interrupt();
      return;
    }
    // Commands of a message, and hooks of a trusted folder, may change files without passing the gate.
    if (commandOf(message) || holder.runsFolderHooks) await hooks.prepared();
    const { content, isCommand, events } = await commands.prepare(writer.row, message);
    if (events.length > 0) await writer.write(events);
    this.#check(id);
    const conversation = await holder.open();
    const isNew = !this.#prompted.has(conversation);
    const lost = isNew ? await lostMessages(store, writer.row.id, conversation, message.id, hooks.guardMessages) : [];
    const adjusted = await holder.adjust(conversation, message);
    if (adjusted.length > 0) await writer.write(adjusted);
    this.#check(id);
    // An ended process would never answer or report an end.
    if (conversation.ended) throw new RequestError("unavailable", "Claude Code ended before it could be asked.");
    const known = [
      ...this.#lateCalls.giveUp(late).flatMap(({ inWords }) => inWords),
      ...(isCommand ? [] : hooks.words()),
    ];
    const system = isCommand ? [] : holder.systemMessages.take();
    const all = [...system, ...lost, ...content, ...known];
    conversation.send({ uuid: messageUuid(message.id), content: all, isCommand });
    hooks.prepare();
    this.#prompted.add(conversation);
    this.#begun(id);
  }

  #check(id: number): Turn {
    const { machine } = this.#parts;
    if (machine.turn && machine.isOpen(id) && !machine.turn.stop) return machine.turn;
    throw new RequestError("conflict", "The turn was interrupted before it began.");
  }

  /** Claude may have ended the turn already when `open` resolves. */
  #begun(id: number): void {
    const { machine } = this.#parts;
    if (machine.isOpen(id) && machine.state.type === "starting") machine.apply({ type: "prompted" });
  }

  #isInterrupted(id: number): boolean {
    const { turn } = this.#parts.machine;
    return turn?.id === id && turn.stop?.isInterrupt === true;
  }
}
