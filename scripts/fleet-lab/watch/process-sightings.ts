/** A Claude Code process, or a worker. */
export interface LabProcess {
  pid: string;
  /** Claude Code's id of the conversation; undefined for a worker. */
  conversation: string | undefined;
  /** Known from its scratch folder. Sessions on the shared volume have none. */
  session?: string | undefined;
  /** The network namespace. */
  machine: string;
}

/** Milliseconds from the death of a worker until the sessions that ran there had a process again. */
export interface TakeoverTimes {
  /** On another machine. */
  moved: number[];
  /** On the same machine, after its restart: their folder is there. */
  stayed: number[];
}

export interface WatchedCounts {
  /** Claude Code processes. */
  processes: number;
  /** Sessions that asked the model, and had at least one of these processes. */
  sessions: number;
  /** Processes of no such session: started ahead, or ended before their conversation asked the model. */
  silent: number;
  /** How many times a session got another process. */
  successors: number;
  /** How many of those ran on another machine than the process before. */
  moves: number;
  /** Pairs of processes of one session that existed at the same time, also for a moment. */
  overlaps: { count: number; longestMs: number };
}

/**
 * The session of each conversation that has asked the model. A session has several if a worker dies before it has logged the
 * first one: the next worker then begins another.
 */
export type SessionsOfConversations = Readonly<Record<string, string>>;

/** How long after its death a process may be seen, and how long before it was seen last. */
const END_MS = 2_000;
const UNSEEN_MS = 2_000;
/** One of two processes that were seen together once may have been about to end. */
const LEAST_SHARED_LOOKS = 2;

interface Seen extends LabProcess {
  from: number;
  to: number;
  /** The looks that saw it, running or suspended. */
  looks: Set<number>;
}

type SeenConversation = Seen & { conversation: string };

/** Remembers which processes ran at the same time. */
export class ProcessSightings {
  readonly #seen = new Map<string, Seen>();
  #looks = 0;

  /** All processes of one look. */
  add(at: number, processes: readonly LabProcess[]): void {
    this.#looks += 1;
    for (const one of processes) {
      const key = `${one.pid} ${one.conversation}`;
      const seen = this.#seen.get(key) ?? { ...one, from: at, to: at, looks: new Set() };
      seen.to = at;
      seen.looks.add(this.#looks);
      this.#seen.set(key, seen);
    }
  }

  count(sessions: SessionsOfConversations): WatchedCounts {
    const asking = new Set(Object.values(sessions));
    const all = this.#conversations().toSorted((a, b) => a.from - b.from);
    const known = all.filter((one) => asking.has(sessionOf(one, sessions) ?? ""));
    const bySession = [...Map.groupBy(known, (one) => sessionOf(one, sessions)).values()];
    const hasMoved = ({ machine }: Seen, index: number, of: readonly Seen[]): boolean =>
      index > 0 && machine !== of[index - 1]?.machine;
    return {
      processes: all.length,
      sessions: bySession.length,
      silent: all.length - known.length,
      successors: known.length - bySession.length,
      moves: bySession.flatMap((of) => of.filter(hasMoved)).length,
      overlaps: this.#overlaps(sessions),
    };
  }

  /** Conversations that have asked the model, but no process of theirs was seen. */
  missing(sessions: SessionsOfConversations): string[] {
    const seen = new Set(this.#conversations().map(({ conversation }) => conversation));
    return Object.keys(sessions).filter((conversation) => !seen.has(conversation));
  }

  /** Sessions that had two processes at the same time, also suspended ones, which, and from when on. */
  twins(sessions: SessionsOfConversations): Map<string, { which: string; from: number }> {
    const pairs = this.#pairs(sessions).filter(
      ([one, other]) => [...one.looks].filter((look) => other.looks.has(look)).length >= LEAST_SHARED_LOOKS,
    );
    return new Map(
      pairs.map((pair) => [
        sessionOf(pair[0], sessions) ?? pair[0].conversation,
        {
          which: pair.map(({ pid, machine }) => `${pid} in ${machine}`).join(", "),
          from: Math.max(pair[0].from, pair[1].from),
        },
      ]),
    );
  }

  /** For the workers that died at these times. A session without a next turn has no next process. */
  takeoversAfter(deaths: readonly number[], sessions: SessionsOfConversations): TakeoverTimes {
    const seen = [...this.#seen.values()].toSorted((a, b) => a.from - b.from);
    const times: TakeoverTimes = { moved: [], stayed: [] };
    for (const at of deaths) {
      const ended = seen.filter(({ from, to }) => from < at && to > at - UNSEEN_MS && to < at + END_MS);
      const workers = ended.filter(({ conversation }) => conversation === undefined);
      const machines = new Set(workers.map(({ machine }) => machine));
      for (const one of ended.filter(({ machine }) => machines.has(machine))) {
        const session = sessionOf(one, sessions);
        const next = session && seen.find((each) => sessionOf(each, sessions) === session && each.from > at);
        if (next) times[next.machine === one.machine ? "stayed" : "moved"].push(next.from - at);
      }
    }
    return times;
  }

  #overlaps(sessions: SessionsOfConversations): WatchedCounts["overlaps"] {
    const times = this.#pairs(sessions).map(
      ([one, other]) => Math.min(one.to, other.to) - Math.max(one.from, other.from),
    );
    const positive = times.filter((ms) => ms > 0);
    return { count: positive.length, longestMs: Math.max(0, ...positive) };
  }

  /** All pairs of processes of one session. */
  #pairs(sessions: SessionsOfConversations): (readonly [SeenConversation, SeenConversation])[] {
    const bySession = Map.groupBy(this.#conversations(), (one) => sessionOf(one, sessions) ?? one.conversation);
    return [...bySession.values()].flatMap((of) =>
      of.flatMap((one, index) => of.slice(index + 1).map((other) => [one, other] as const)),
    );
  }

  #conversations(): SeenConversation[] {
    return [...this.#seen.values()].flatMap((one) =>
      one.conversation === undefined ? [] : { ...one, conversation: one.conversation },
    );
  }
}

const sessionOf = ({ session, conversation = "" }: LabProcess, sessions: SessionsOfConversations): string | undefined =>
  session ?? sessions[conversation];
