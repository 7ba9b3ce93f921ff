import type { ProcessSlot } from "@tandem/claude-code";
import { ENVIRONMENT_METADATA, newId, type Environment, type SessionId, type ThreadId } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import { removeTree } from "@tandem/workspace";
import { Timer } from "../host/timer.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import { sandboxFolder } from "../sandbox/sandbox-folder.ts";
import { canStartAhead, launchHint, startsAlone } from "./launch-hint.ts";
import { Spare } from "./spare.ts";
import { SpareMarks } from "./spare-marks.ts";
import type { SpareSettings } from "./spare-settings.ts";

/** Memory that stays free. A process alone takes about 190 MB. */
const FREE_BYTES = 768 * 1024 ** 2;
/** Not while the process of the session itself starts and asks the model. */
const SOON_MS = 2_000;
/** Not before a program that answers at once has sent its next message: both would compete for the processor. */
const AFTER_TURN_MS = 200;
/** After a failed start. */
const RETRY_MS = 60 * 1_000;
/** A session that has not begun its first turn by then may lose its process to another kind. */
const UNUSED_MS = 60 * 1_000;
/** Kinds of sessions that are remembered. */
const MAX_KINDS = 1_000;

/** Of all engines of this process: tenants share its memory. */
const RUNNING = new Set<Entry>();

/** The ids of a session whose process is started already, and its scratch folder, if it has one. */
export interface ReservedSpare {
  id: SessionId;
  primaryThread: ThreadId;
  scratch?: string;
}

interface Entry extends ReservedSpare {
  hint: string;
  /** Undefined once it has ended. */
  opening: Promise<Spare | undefined>;
  slot: ProcessSlot | undefined;
  timer: Timer;
  usedAt: number;
  isReserved: boolean;
  /** Whether its folder is there. */
  isPlaced: boolean;
}

interface SparesDependencies {
  settings: ProcessSettings & Required<SpareSettings>;
  store: Pick<Store, "agents" | "records" | "sessions">;
  definitions: ToolDefinitions;
  /** The folders of sessions. */
  places: {
    prepare(environment: Environment, session: SessionId): Promise<string>;
    discard(session: SessionId): Promise<void>;
  };
  environmentOf: (id: string) => Promise<Environment>;
  /** Whether the kill switch is engaged. */
  isHalted: () => Promise<boolean>;
}

/**
 * Keeps Claude Code processes ready for sessions like those that ran recently: same agent, folder and settings. A process is
 * used by one session only, which gets the ids that the process was started with. See
 * docs/decisions/0038-processes-started-ahead.md.
 */
export class Spares {
  readonly #dependencies: SparesDependencies;
  readonly #marks: SpareMarks;
  readonly #failedAt = new Map<string, number>();
  /** By kind of session, as `#uses`. */
  readonly #soon = new Map<string, Timer>();
  /** How many processes of each kind this engine has started. */
  readonly #uses = new Map<string, number>();
  #entries: Entry[] = [];
  #isStopped = false;

  constructor(dependencies: SparesDependencies) {
    this.#dependencies = dependencies;
    this.#marks = new SpareMarks(dependencies.settings.stateFolder);
  }

  /** A session like this runs: keep a process for the next one. `isStarting`: wait until its first turn is under way. */
  want(row: SessionRow, isStarting = false): void {
    if (this.#isStopped) return;
    const hint = launchHint(row);
    if (isStarting) {
      if (this.#uses.size >= MAX_KINDS) this.#uses.clear();
      this.#uses.set(hint, (this.#uses.get(hint) ?? 0) + 1);
    }
    const timer = this.#soon.get(hint) ?? new Timer(this.#dependencies.settings.clock);
    this.#soon.set(hint, timer);
    // Every turn asks again at its end, and so puts it off.
    timer.set(isStarting ? SOON_MS : AFTER_TURN_MS, () => {
      this.#soon.delete(hint);
      this.#start(row, hint);
    });
  }

  #start(row: SessionRow, hint: string): void {
    const { settings } = this.#dependencies;
    const { count, keepMs } = settings.spareProcesses;
    const now = settings.clock.monotonic();
    if (this.#isStopped || count === 0 || now - (this.#failedAt.get(hint) ?? -Infinity) < RETRY_MS) return;
    const known = this.#entries.find((entry) => entry.hint === hint && !entry.isReserved);
    if (known) {
      known.usedAt = now;
      return known.timer.set(keepMs, () => void this.#end(known));
    }
    if (process.availableMemory() < FREE_BYTES) return;
    const { processes } = settings;
    if (RUNNING.size >= count) void this.#endLeastUsed(hint);
    if (RUNNING.size >= count) return;
    const slot = processes?.slots.tryTake(`${processes.owner} spares`);
    if (processes && !slot) return;
    const entry: Entry = {
      id: newId("session"),
      primaryThread: newId("thread"),
      hint,
      opening: Promise.resolve(undefined),
      slot,
      timer: new Timer(settings.clock),
      usedAt: now,
      isReserved: false,
      isPlaced: false,
    };
    this.#entries.push(entry);
    RUNNING.add(entry);
    entry.opening = this.#open(entry, row);
    slot?.setIdle(() => this.#end(entry));
    entry.timer.set(keepMs, () => void this.#end(entry));
  }

  /** How many processes of released sessions may wait for a message at once. */
  get mostReopened(): number {
    return this.#isStopped ? 0 : this.#dependencies.settings.spareProcesses.count;
  }

  /** Whether the process of a released session may be started before its next message. */
  async mayReopen(row: SessionRow): Promise<boolean> {
    const { settings, isHalted } = this.#dependencies;
    const isAtRest = row.status === "idle" && !row.archivedAt && !row.parked && row.waitingFor.length === 0;
    if (!isAtRest || !row.claudeSession || this.mostReopened === 0 || process.availableMemory() < FREE_BYTES)
      return false;
    return !(await isHalted()) && (await startsAlone(row, settings));
  }

  /** For a new session: the ids of a process that is started for one like it. The caller creates the session, or calls `giveBack`. */
  reserve(row: Pick<SessionRow, "agent" | "environmentId" | "metadata" | "vaultIds">): ReservedSpare | undefined {
    if (this.#entries.length === 0) return undefined;
    const hint = launchHint(row);
    const entry = this.#entries.find((each) => each.hint === hint && each.isPlaced && !each.isReserved);
    if (!entry) return undefined;
    entry.isReserved = true;
    entry.usedAt = this.#dependencies.settings.clock.monotonic();
    const { id, primaryThread, scratch } = entry;
    return { id, primaryThread, ...(scratch !== undefined && { scratch }) };
  }

  /** The session was not created. */
  async giveBack(id: SessionId): Promise<void> {
    const entry = this.#entries.find((each) => each.id === id);
    if (!entry) return;
    entry.isReserved = false;
    await this.#end(entry);
  }

  /** The process of this session, if one was started for it. The caller owns it from now on. */
  async take(id: SessionId): Promise<Spare | undefined> {
    const entry = this.#remove(id);
    if (!entry) return undefined;
    const spare = await entry.opening;
    await this.#marks.remove(id);
    entry.slot?.free();
    if (!spare?.conversation.ended) return spare;
    await spare[Symbol.asyncDispose]();
    return undefined;
  }

  /** Ends all of them. New ones may follow. */
  async endAll(): Promise<void> {
    for (const timer of this.#soon.values()) timer.clear();
    this.#soon.clear();
    await Promise.all(this.#entries.map((entry) => this.#end(entry)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.endAll();
  }

  /** Removes the files of processes whose server died. Their processes ended with it. */
  async sweep(): Promise<void> {
    for (const id of await this.#marks.left()) {
      if (!(await this.#dependencies.store.sessions.get(id))) await this.#discard(id);
      await this.#marks.remove(id);
    }
  }

  async #open(entry: Entry, template: SessionRow): Promise<Spare | undefined> {
    const { settings, environmentOf, places } = this.#dependencies;
    try {
      const environment = await environmentOf(template.environmentId);
      if (await this.#dependencies.isHalted()) {
        void this.#end(entry);
        return undefined;
      }
      if (!(await canStartAhead(template, environment, settings))) throw new NotAhead();
      await this.#marks.add(entry.id);
      const folder = await places.prepare(environment, entry.id);
      if (environment.metadata[ENVIRONMENT_METADATA.path] === undefined) entry.scratch = folder;
      entry.isPlaced = true;
      const row = newRow(template, { ...entry, folder });
      const onEnded = (): void => void this.#end(entry);
      return await Spare.open(row, settings, { ...this.#dependencies, onEnded });
    } catch (error) {
      // If it was ended meanwhile, the error says nothing about the next start.
      if (!this.#entries.includes(entry)) return undefined;
      if (this.#failedAt.size >= MAX_KINDS) this.#failedAt.clear();
      this.#failedAt.set(entry.hint, settings.clock.monotonic());
      if (!(error instanceof NotAhead))
        settings.log.warn({ error: String(error) }, "no process could be started ahead");
      void this.#end(entry);
      return undefined;
    }
  }

  /** Makes room for another kind, but not at the cost of one that is used more often. */
  async #endLeastUsed(hint: string): Promise<void> {
    const usesOf = (kind: string): number => this.#uses.get(kind) ?? 0;
    const unused = this.#dependencies.settings.clock.monotonic() - UNUSED_MS;
    const [least] = this.#entries
      .filter((entry) => (entry.isReserved ? entry.usedAt < unused : usesOf(entry.hint) <= usesOf(hint)))
      .toSorted((a, b) => usesOf(a.hint) - usesOf(b.hint) || a.usedAt - b.usedAt);
    if (least) await this.#end(least);
  }

  /** Of a reserved process, the folders belong to its session. */
  async #end(entry: Entry): Promise<void> {
    if (!this.#remove(entry.id)) return;
    const spare = await entry.opening;
    await spare?.[Symbol.asyncDispose]();
    if (!entry.isReserved) await this.#discard(entry.id);
    await this.#marks.remove(entry.id);
    entry.slot?.free();
  }

  #remove(id: SessionId): Entry | undefined {
    const entry = this.#entries.find((each) => each.id === id);
    entry?.timer.clear();
    this.#entries = this.#entries.filter((each) => each !== entry);
    if (entry) RUNNING.delete(entry);
    return entry;
  }

  async #discard(id: SessionId): Promise<void> {
    await removeTree(sandboxFolder(this.#dependencies.settings.stateFolder, id));
    await this.#dependencies.places.discard(id);
  }
}

/** Such sessions have no process started ahead. */
class NotAhead extends Error {}

/** A session that does not exist yet. */
const newRow = (
  { agent, environmentId, metadata, budget, usage, place }: SessionRow,
  own: Pick<SessionRow, "id" | "primaryThread" | "folder">,
): SessionRow => ({
  id: own.id,
  primaryThread: own.primaryThread,
  folder: own.folder,
  agent,
  environmentId,
  metadata,
  budget,
  usage,
  place,
  status: "idle",
  title: null,
  activeMs: 0,
  waitingFor: [],
  claudeSession: undefined,
  resources: [],
  createdAt: "",
  updatedAt: "",
  archivedAt: null,
});
