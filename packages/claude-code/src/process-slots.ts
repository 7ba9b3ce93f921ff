import { aborted } from "./process-errors.ts";

export interface SlotRequest {
  /** Slots are shared evenly between owners, such as a tenant's users. Requests of one owner are served in order. */
  owner: string;
  signal?: AbortSignal;
  /** Called when the request has to wait, and whenever the number of requests ahead of it changes. */
  onWait?: (ahead: number) => void;
}

/** The right to run one process. */
export interface ProcessSlot {
  /** Whether another process waits for a slot. */
  readonly isWanted: boolean;
  /**
   * The process is idle. `end` is called if another one needs the slot; it resolves when the process has ended or is busy.
   * `isWaiting`: it waits for a person; it is ended after the idle ones.
   */
  setIdle(end: () => Promise<unknown>, isWaiting?: boolean): void;
  setBusy(): void;
  /** Runs work that may itself need a process. The slot does not count meanwhile; otherwise, such work could deadlock. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** Call when the process has ended. Safe to call more than once. */
  free(): void;
}

interface Waiting extends SlotRequest {
  ahead: number;
  give: (slot: ProcessSlot) => void;
}

/**
 * Limits the Claude Code processes that run at once. A request beyond the limit waits. The owner with the fewest busy processes
 * is served first, then the oldest request, so that no owner can starve another. Idle processes are ended for waiting ones,
 * the longest idle first.
 */
export class ProcessSlots {
  readonly limit: number;
  readonly #held = new Set<Slot>();
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Undefined if no slot is free now. */
  tryTake(owner: string): ProcessSlot | undefined {
    return this.#waiting.length === 0 && this.#hasRoom ? this.#grant(owner) : undefined;
  }

  /** Rejects with `aborted` when the signal fires. */
  async take(request: SlotRequest): Promise<ProcessSlot> {
    const { owner, signal } = request;
    if (signal?.aborted) throw aborted();
    const free = this.tryTake(owner);
    if (free) return free;
    const { promise, resolve, reject } = Promise.withResolvers<ProcessSlot>();
    const waiting: Waiting = { ...request, ahead: -1, give: resolve };
    const onAbort = (): void => {
      if (!this.#waiting.includes(waiting)) return;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      reject(aborted());
      this.#tellPositions();
    };
    this.#waiting.push(waiting);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#reclaim();
    this.#tellPositions();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  get #hasRoom(): boolean {
    return [...this.#held].filter(({ isLent }) => !isLent).length < this.limit;
  }

  #grant(owner: string): ProcessSlot {
    const slot: Slot = new Slot(owner, {
      isWanted: () => this.#waiting.length > 0 && !this.#hasRoom,
      onIdle: () => this.#reclaim(),
      onFreed: () => {
        if (this.#held.delete(slot)) this.#serve();
      },
      onLent: () => this.#serve(),
    });
    this.#held.add(slot);
    return slot;
  }

  #serve(): void {
    const before = this.#waiting.length;
    while (this.#waiting.length > 0 && this.#hasRoom) {
      const [next] = inOrder(this.#waiting, this.#busyByOwner(), 1);
      this.#waiting = this.#waiting.filter((other) => other !== next);
      next!.give(this.#grant(next!.owner));
    }
    if (this.#waiting.length !== before) this.#tellPositions();
  }

  /** Ends as many idle processes as requests wait. */
  #reclaim(): void {
    const ending = [...this.#held].filter(({ isEnding }) => isEnding).length;
    const idle = [...this.#held].filter(({ idleSince, isEnding }) => idleSince !== undefined && !isEnding);
    const longest = idle.toSorted((a, b) => Number(a.isWaiting) - Number(b.isWaiting) || a.idleSince! - b.idleSince!);
    for (const slot of longest.slice(0, Math.max(0, this.#waiting.length - ending))) {
      // A process that was busy again could not be ended: another idle one may be.
      void slot.end().finally(() => this.#reclaim());
    }
  }

  #busyByOwner(): Map<string, number> {
    const busy = new Map<string, number>();
    for (const { owner, idleSince } of this.#held) {
      if (idleSince === undefined) busy.set(owner, (busy.get(owner) ?? 0) + 1);
    }
    return busy;
  }

  #tellPositions(): void {
    for (const [ahead, waiting] of inOrder(this.#waiting, this.#busyByOwner()).entries()) {
      if (waiting.ahead === ahead) continue;
      waiting.ahead = ahead;
      waiting.onWait?.(ahead);
    }
  }
}

/** The order in which requests are served if no running process ends first. */
function inOrder(waiting: readonly Waiting[], busy: Map<string, number>, count = waiting.length): Waiting[] {
  const queues = new Map<string, Waiting[]>();
  for (const request of waiting) queues.set(request.owner, [...(queues.get(request.owner) ?? []), request]);
  const ordered: Waiting[] = [];
  while (ordered.length < count) {
    let next: { owner: string; request: Waiting; busy: number; at: number } | undefined;
    for (const [owner, [request]] of queues) {
      if (!request) continue;
      const candidate = { owner, request, busy: busy.get(owner) ?? 0, at: waiting.indexOf(request) };
      const isEarlier =
        candidate.busy === next?.busy ? candidate.at < next.at : candidate.busy < (next?.busy ?? Infinity);
      if (isEarlier) next = candidate;
    }
    if (!next) break;
    ordered.push(next.request);
    queues.set(next.owner, queues.get(next.owner)!.slice(1));
    busy.set(next.owner, next.busy + 1);
  }
  return ordered;
}

interface SlotListener {
  isWanted: () => boolean;
  onIdle: () => void;
  onFreed: () => void;
  onLent: () => void;
}

class Slot implements ProcessSlot {
  readonly owner: string;
  readonly #listener: SlotListener;
  #end: (() => Promise<unknown>) | undefined;
  idleSince: number | undefined;
  isWaiting = false;
  isEnding = false;
  #lent = 0;

  constructor(owner: string, listener: SlotListener) {
    this.owner = owner;
    this.#listener = listener;
  }

  get isWanted(): boolean {
    return this.#listener.isWanted();
  }

  get isLent(): boolean {
    return this.#lent > 0;
  }

  setIdle(end: () => Promise<unknown>, isWaiting = false): void {
    this.#end = end;
    this.isWaiting = isWaiting;
    this.idleSince ??= performance.now();
    this.#listener.onIdle();
  }

  setBusy(): void {
    this.#end = undefined;
    this.idleSince = undefined;
  }

  async end(): Promise<void> {
    this.isEnding = true;
    const end = this.#end;
    try {
      await end?.();
    } catch {
      // The owner reports why its process could not be ended.
    } finally {
      this.isEnding = false;
      // Asked once per idle period: an owner that did not end its process would be asked forever.
      if (this.#end === end) this.setBusy();
    }
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#lent += 1;
    this.#listener.onLent();
    try {
      return await work();
    } finally {
      this.#lent -= 1;
    }
  }

  free(): void {
    this.setBusy();
    this.#listener.onFreed();
  }
}

/** A limit that several pools share. */
export interface PoolLimit {
  slots: ProcessSlots;
  /** See `SlotRequest`. */
  owner: string;
}
