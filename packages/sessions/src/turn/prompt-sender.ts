import type { LateResult } from "@tandem/claude-code";
import { RequestError, type EventOf } from "@tandem/protocol";
import type { ConversationHolder } from "../process/conversation-holder.ts";
import { isKept, lostMessages, messageUuid } from "./lost-messages.ts";
import type { QuotaWait } from "./quota-wait.ts";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { Turn } from "./turn.ts";

type UserMessage = EventOf<"user.message">;

/** What the model is given: a message, or the word that it goes on with a turn that was left. */
export interface Prompt {
  message?: UserMessage;
  results?: readonly LateResult[];
  isAfterReset?: true;
}

interface Beside {
  holder: ConversationHolder;
  companions: TurnHooks;
  parking: QuotaWait;
  isCurrent(turn: Turn): boolean;
}

/** Gives the model what a turn begins or goes on with, in a process that is there or made for it. */
export class PromptSender {
  readonly #parts: TurnDependencies;
  readonly #beside: Beside;

  constructor(parts: TurnDependencies, beside: Beside) {
    this.#parts = parts;
    this.#beside = beside;
  }

  /** The message of a turn, if nothing was kept of it: the model does not know it. */
  async untold(turn: Turn): Promise<UserMessage | undefined> {
    const { store, writer } = this.#parts;
    const last = [...turn.messages].at(-1);
    const message = last && (await store.events.find(writer.row.id, last))?.event;
    if (message?.type !== "user.message" || (await isKept(store.transcripts, writer.row, message.id))) return undefined;
    return message;
  }

  /** Rejects if the turn was interrupted before, or cannot begin. */
  async tell(turn: Turn, { message: given, results = [], isAfterReset }: Prompt): Promise<void> {
    const { store, writer, commands } = this.#parts;
    const { holder, companions, parking } = this.#beside;
    const check = (): void => {
      if (this.#beside.isCurrent(turn) && !turn.interrupted && !turn.stopped) return;
      throw new RequestError("conflict", "The turn was interrupted before it began.");
    };
    check();
    const message = given ?? (isAfterReset && (await this.untold(turn)));
    if (message) await parking.check(message);
    check();
    const start = { ...turn.start, message: message?.id ?? null };
    await companions.before(start, (events) => writer.write(events));
    if (!message) {
      check();
      const conversation = await holder.open(isAfterReset ? undefined : { results });
      if (isAfterReset) parking.tell(conversation);
      turn.told = true;
      if (turn.interrupted) await conversation.interrupt();
      return;
    }
    const { content, isCommand, events } = await commands.prepare(writer.row, message);
    if (events.length > 0) await writer.write(events);
    check();
    const isNew = holder.current === undefined;
    const conversation = await holder.open();
    const lost = isNew
      ? await lostMessages(store, writer.row.id, conversation, message.id, companions.guardMessages)
      : [];
    const adjusted = await holder.adjust(conversation, message);
    if (adjusted.length > 0) await writer.write(adjusted);
    check();
    // One that has ended would never answer, and has nothing more to say.
    if (conversation.ended) throw new RequestError("unavailable", "Claude Code ended before it could be asked.");
    const known = [...results.flatMap(({ inWords }) => inWords), ...(isCommand ? [] : companions.words())];
    conversation.send({ uuid: messageUuid(message.id), content: [...lost, ...content, ...known], isCommand });
    turn.told = true;
  }
}
