import { type LoggedEvent, type Message, Projection, type Todo } from "@tandem/protocol";

export type HistoryPointKind = "said" | "answered" | "called" | "asked" | "checkpoint" | "rewound" | "error";

/** A point of the log that the user can jump to. */
export interface HistoryPoint {
  /** Number of events up to this point. */
  upTo: number;
  kind: HistoryPointKind;
  at: string | null;
  /** Counted from 1; 0 before the first turn. */
  turn: number;
}

/** The visible events in order. Each result is its own point; bookkeeping of model requests is none. */
export function historyPoints(events: readonly LoggedEvent[]): HistoryPoint[] {
  const points: HistoryPoint[] = [];
  let turn = 0;
  for (const [index, { event, thread }] of events.entries()) {
    const kind = thread === null ? kindOf(event) : undefined;
    if (kind === "said") turn += 1;
    if (kind) points.push({ upTo: index + 1, kind, at: event.processed_at, turn });
  }
  return points;
}

function kindOf(event: LoggedEvent["event"]): HistoryPointKind | undefined {
  switch (event.type) {
    case "user.message":
    case "user.define_outcome":
      return "said";
    case "agent.message":
      return "answered";
    case "agent.tool_result":
    case "agent.mcp_tool_result":
    case "tandem.todo":
      return "called";
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return "evaluated_permission" in event && event.evaluated_permission === "ask" ? "asked" : "called";
    case "tandem.checkpoint":
      return event.when === "after" ? "checkpoint" : undefined;
    case "tandem.rewound":
      return "rewound";
    case "session.error":
      return "error";
    default:
      return undefined;
  }
}

/** The state of a session at one point. */
export interface ReplayedState {
  messages: readonly Message[];
  todos: readonly Todo[];
  usd: number;
  /** The latest checkpoint at that point; null if there is none yet. */
  checkpoint: string | null;
  /** Files that tools edited since the checkpoint. */
  edited: readonly string[];
}

/** Projects the log up to any point. Moving forward applies only the new events; moving back starts over. */
export class LogReplay {
  readonly #events: readonly LoggedEvent[];
  #projection = new Projection();
  #upTo = 0;
  #todos: readonly Todo[] = [];
  #checkpoint: string | null = null;
  #edited: readonly string[] = [];
  /** The total of the last usage event, plus the cost of requests since then. */
  #counted = 0;
  #since = 0;

  constructor(events: readonly LoggedEvent[]) {
    this.#events = events;
  }

  at(upTo: number): ReplayedState {
    if (upTo < this.#upTo) this.#begin();
    for (; this.#upTo < Math.min(upTo, this.#events.length); this.#upTo += 1) this.#apply(this.#events[this.#upTo]!);
    return {
      messages: this.#projection.messages,
      todos: this.#todos,
      usd: this.#counted + this.#since,
      checkpoint: this.#checkpoint,
      edited: this.#edited,
    };
  }

  #begin(): void {
    this.#projection = new Projection();
    this.#upTo = 0;
    this.#todos = [];
    this.#checkpoint = null;
    this.#edited = [];
    this.#counted = 0;
    this.#since = 0;
  }

  #keep(checkpoint: string | null): void {
    this.#checkpoint = checkpoint;
    this.#edited = [];
  }

  #apply(entry: LoggedEvent): void {
    this.#projection.apply(entry);
    const { event } = entry;
    if (event.type === "tandem.todo") this.#todos = event.todos;
    else if (event.type === "tandem.checkpoint") this.#keep(event.checkpoint_id);
    else if (event.type === "tandem.rewound") this.#keep(event.checkpoint_id ?? this.#checkpoint);
    else if (event.type === "agent.tool_result" && event.tandem?.patch) {
      this.#edited = [...new Set([...this.#edited, event.tandem.patch.path])];
    } else if (event.type === "span.model_request_end") this.#since += event.tandem?.usd ?? 0;
    else if (event.type === "session.usage" && event.tandem) {
      this.#counted = event.tandem.usd;
      this.#since = 0;
    }
  }
}
