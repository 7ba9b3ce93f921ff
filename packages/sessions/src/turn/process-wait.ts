import type { SessionEventBody } from "@tandem/protocol";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnMachine } from "./turn-machine.ts";

/** How often a new position is logged. Many sessions wait at once, and each end of a process moves all of them. */
const LOG_EVERY_MS = 10_000;

interface WaitParts {
  machine: TurnMachine;
  holder: Pick<ConversationHolder, "reserve">;
}

/** Lets a turn wait for a free Claude Code process, and logs its position in the queue. The wait is not active time. */
export class ProcessWait {
  readonly #dependencies: Pick<TurnDependencies, "writer" | "settings">;
  readonly #parts: WaitParts;

  constructor(dependencies: Pick<TurnDependencies, "writer" | "settings">, parts: WaitParts) {
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  async reserve(user: string): Promise<void> {
    const { writer, settings } = this.#dependencies;
    const { machine, holder } = this.#parts;
    const { clock } = settings;
    let loggedAt: number | undefined;
    const onWait = (ahead: number): void => {
      const now = clock.monotonic();
      if (loggedAt !== undefined && now - loggedAt < LOG_EVERY_MS) return;
      const isFirst = loggedAt === undefined;
      loggedAt = now;
      const wait: SessionEventBody = { type: "tandem.process_wait", ahead };
      if (!isFirst) return void writer.write([wait]);
      void writer.write([wait, { type: "session.status_rescheduled" }], { status: "rescheduling" });
    };
    await holder.reserve(user, onWait);
    if (loggedAt === undefined || machine.state.type === "idle") return;
    machine.apply({ type: "resume" });
    await writer.write([{ type: "session.status_running" }], { status: "running" });
  }
}
