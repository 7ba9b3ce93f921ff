import type { Message } from "@tandem/protocol";
import { agentOfMode } from "./modes.ts";
import { projectMessage } from "./project-message.ts";
import type { SessionFacts } from "./session-facts.ts";
import type { WireMessage } from "./wire-message.ts";

/** The messages of a session for opencode's clients. Unchanged messages keep their identity. */
export class MessageView {
  readonly #session: { id: string; folder: string; created_at: string };
  readonly #facts: SessionFacts;
  readonly #cache = new Map<string, { message: Message; key: string; wire: WireMessage | undefined }>();

  constructor(session: { id: string; folder: string; created_at: string }, facts: SessionFacts) {
    this.#session = session;
    this.#facts = facts;
  }

  of(messages: readonly Message[]): Map<string, WireMessage> {
    const view = new Map<string, WireMessage>();
    const lastUser = new Map<string | null, string>();
    const lastOfTurn = new Map(
      messages.flatMap(({ id, role, turn, thread }) =>
        role === "agent" && thread === null && turn !== null ? [[turn, id]] : [],
      ),
    );
    for (const message of messages) {
      if (this.#isHidden(message)) continue;
      if (message.role === "user") lastUser.set(message.thread, message.id);
      const parent = message.turn ?? lastUser.get(message.thread) ?? message.id;
      const isLast = message.turn !== null && lastOfTurn.get(message.turn) === message.id;
      const wire = this.#wire(message, parent, isLast);
      if (wire) view.set(wire.info.id, wire);
    }
    return view;
  }

  /** Rewound messages stay visible to clients while they can be restored. */
  #isHidden({ delivery, rewound }: Message): boolean {
    return delivery?.type === "dropped" || (rewound !== undefined && rewound !== this.#facts.rewind?.id);
  }

  #wire(message: Message, parent: string, isLast: boolean): WireMessage | undefined {
    const { turn, aborted, turns, current } = this.#facts;
    const isOver = message.turn === null ? turn === undefined : message.turn !== turn;
    const isAborted = isLast && isOver && message.turn !== null && aborted.has(message.turn);
    const { mode, model } = turns.get(message.role === "user" ? message.id : parent) ?? current;
    const agent = agentOfMode(mode);
    const key = [isOver, isAborted, parent, agent, model].join();
    const cached = this.#cache.get(message.id);
    if (cached?.message === message && cached.key === key) return cached.wire;
    const { id: session, folder, created_at } = this.#session;
    const createdAt = Date.parse(created_at);
    const wire = projectMessage(message, { session, createdAt, folder, isOver, isAborted, parent, agent, model });
    this.#cache.set(message.id, { message, key, wire });
    return wire;
  }
}
