import { RequestError, type EventOf, type QueryOutput, type SessionDiff, type TreeDiff } from "@tandem/protocol";
import { logEvents, type EventLog, type SessionRow } from "@tandem/storage";
import type { Checkpoint, CheckpointStores, CheckpointStore } from "@tandem/workspace";
import { isAbsolute, relative } from "node:path";
import { planFiles, type FilePlan } from "./file-plan.ts";
import { findTurn, markBefore, type PastTurn, type SessionPast } from "./session-past.ts";

export type DiffQuery = Omit<QueryOutput<"sessions.diff">, "patch"> & { patch?: boolean | undefined };

const MAX_FILES = 500;
const MAX_PATCH_BYTES = 2 * 1024 * 1024;
const LOOK = "look";

/** Checkpoints of a session's folder. */
export class FilesOfSession {
  readonly #store: CheckpointStore;
  readonly #row: SessionRow;
  readonly #past: SessionPast;

  constructor(store: CheckpointStore, row: SessionRow, past: SessionPast) {
    this.#store = store;
    this.#row = row;
    this.#past = past;
  }

  static async open(stores: CheckpointStores | undefined, row: SessionRow, past: SessionPast): Promise<FilesOfSession> {
    if (!stores) {
      throw new RequestError("not_supported", "Checkpoints are off, so there is nothing to compare or rewind.", {
        fix: "Set checkpoints.enabled.",
      });
    }
    return new FilesOfSession(await stores.of(row.folder), row, past);
  }

  get store(): CheckpointStore {
    return this.#store;
  }

  async kept(): Promise<Set<string>> {
    return new Set((await this.#store.list(this.#row.id)).map(({ id }) => id));
  }

  /** The files before a turn. */
  async before(turn: PastTurn): Promise<Checkpoint> {
    const mark = markBefore(this.#past, turn);
    const found = mark && (await this.#store.find(this.#row.id, mark.checkpoint));
    if (found) return found;
    throw new RequestError("not_found", `There is no checkpoint of the files before turn ${turn.number}.`, {
      fix: "Rewind the conversation only: scope conversation.",
    });
  }

  async find(id: string): Promise<Checkpoint> {
    const found = await this.#store.find(this.#row.id, id);
    if (found) return found;
    throw new RequestError("not_found", `The session has no checkpoint ${id}, or it was pruned.`);
  }

  /** Takes a temporary checkpoint of the current files for the duration of `work`. */
  async looking<T>(work: (present: Checkpoint) => Promise<T>): Promise<T> {
    const present = await this.#store.take(this.#row.id, LOOK);
    try {
      return await work(present);
    } finally {
      await this.#store.drop([present]);
    }
  }

  async plan(target: Checkpoint, turn: PastTurn, present: Checkpoint, log: EventLog): Promise<FilePlan> {
    const first = this.#past.marks.findIndex(({ checkpoint }) => checkpoint === target.id);
    return planFiles(this.#store, this.#row.id, {
      marks: this.#past.marks.slice(first),
      target,
      present,
      ownPaths: () => this.#ownPaths(log, turn.seq),
    });
  }

  /** The planned changes as a diff. */
  difference(from: Checkpoint, to: Checkpoint, paths: Iterable<string>, patch = true): Promise<TreeDiff> {
    return this.#store.diff(from, to, {
      patch,
      maxFiles: MAX_FILES,
      maxPatchBytes: MAX_PATCH_BYTES,
      paths: new Set(paths),
    });
  }

  async diff({ from, to, turn, patch = true }: DiffQuery): Promise<SessionDiff> {
    const [first, last] = turn === undefined ? this.#ends() : this.#endsOf(turn);
    const start = from ?? first;
    const end = to ?? last;
    if (start === undefined) {
      throw new RequestError("not_found", "No checkpoint yet, so there is nothing to compare with.");
    }
    const compare = async (a: Checkpoint, b: Checkpoint): Promise<SessionDiff> => ({
      from: start === "now" ? "now" : a.id,
      to: end === undefined || end === "now" ? "now" : b.id,
      skipped: [...new Set([...a.skipped, ...b.skipped])].sort(),
      ...(await this.#store.diff(a, b, { patch, maxFiles: MAX_FILES, maxPatchBytes: MAX_PATCH_BYTES })),
    });
    const isNow = (point: string | undefined): boolean => point === undefined || point === "now";
    if (!isNow(start) && !isNow(end)) return compare(await this.find(start), await this.find(end!));
    return this.looking(async (present) =>
      compare(isNow(start) ? present : await this.find(start), isNow(end) ? present : await this.find(end!)),
    );
  }

  #ends(): [string | undefined, string | undefined] {
    const { marks } = this.#past;
    return [marks[0]?.checkpoint, marks.findLast(({ kind }) => kind !== "before")?.checkpoint];
  }

  #endsOf(number: number): [string | undefined, string | undefined] {
    const turn = this.#past.turns.find((each) => each.number === number) ?? findTurn(this.#past, { turn: number });
    const next = this.#past.turns.find((each) => each.number === number + 1);
    const after = this.#past.marks.find(
      ({ kind, seq }) => kind === "after" && seq > turn.seq && (!next || seq < next.seq),
    );
    return [markBefore(this.#past, turn)?.checkpoint, after?.checkpoint];
  }

  async #ownPaths(log: EventLog, since: number): Promise<Set<string>> {
    const paths = new Set<string>();
    for await (const { event } of logEvents(log, this.#row.id, { after: since, types: ["agent.tool_result"] })) {
      const path = (event as EventOf<"agent.tool_result">).tandem?.patch?.path;
      if (path !== undefined) paths.add(isAbsolute(path) ? relative(this.#row.folder, path) : path);
    }
    return paths;
  }
}
