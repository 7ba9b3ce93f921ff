import type { SessionKey, SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { LlmError, RequestError } from "@tandem/protocol";
import type { ConversationSetup, TranscriptStore } from "../conversation.ts";
import { closeMarkedCalls, finishTurn } from "../finish-turn.ts";
import { restoreTranscript } from "./restore-transcript.ts";
import { messageUuids, resultIds, type TranscriptLine, toolUseIds } from "./transcript-line.ts";

/** Path of the main transcript; subagents have their own paths. */
const MAIN = "";

/** Called with the earlier transcripts by path, and whether a turn continues. */
type OnFound = (transcripts: ReadonlyMap<string, TranscriptLine[]>, isOpen: boolean) => void;

/**
 * Mirrors Claude Code's transcript files to the store, and writes the files before it starts. The SDK would resume in a
 * temporary folder without the login's refresh token. So its `load` returns nothing, and Claude Code finds the files in
 * their usual place.
 */
export class TranscriptMirror implements SessionStore {
  readonly #store: TranscriptStore;
  readonly #projectsFolder: string;
  readonly #onLine: (subpath: string, line: TranscriptLine) => void;
  readonly #onFound: OnFound;
  readonly #continuation: ConversationSetup["continuation"];
  /** Lines not stored yet, in order. Nothing is dropped: a failed write is retried with the next lines. */
  #waiting: { subpath: string; lines: TranscriptLine[] }[] = [];
  #writing: Promise<void> | undefined;
  #seen = 0;
  #failure: LlmError | undefined;
  readonly #remembered = new Set<string>();
  /** Calls whose lines are stored. */
  readonly #calls = new Set<string>();
  /** Calls whose results are stored. */
  readonly #results = new Set<string>();
  #stored = Promise.withResolvers<void>();

  constructor(
    store: TranscriptStore,
    settings: {
      projectsFolder: string;
      continuation: ConversationSetup["continuation"];
      onLine: (subpath: string, line: TranscriptLine) => void;
      onFound: OnFound;
    },
  ) {
    this.#store = store;
    this.#projectsFolder = settings.projectsFolder;
    this.#continuation = settings.continuation;
    this.#onLine = settings.onLine;
    this.#onFound = settings.onFound;
  }

  /** Whether an earlier process received the message. */
  remembers(uuid: string): boolean {
    return this.#remembered.has(uuid);
  }

  /** Why the transcript could not be restored. */
  get failure(): LlmError | undefined {
    return this.#failure;
  }

  async append({ subpath = MAIN }: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    this.#seen += entries.length;
    this.#waiting.push({ subpath, lines: entries });
    for (const entry of entries) this.#onLine(subpath, entry);
    // Callers that need certainty use `flush`.
    this.#write().catch(() => {});
  }

  /**
   * Resolves when these calls are stored, and the results of finished ones. Needed because Claude Code writes its
   * transcript shortly after its output.
   */
  async stored(calls: readonly string[], finished: Iterable<string> = []): Promise<void> {
    const results = [...finished];
    const isStored = () => calls.every((id) => this.#calls.has(id)) && results.every((id) => this.#results.has(id));
    while (!isStored()) await this.#stored.promise;
  }

  /** Called once before Claude Code starts, only when resuming. */
  async load({ projectKey, sessionId, subpath }: SessionKey): Promise<null> {
    if (subpath !== undefined) return null;
    const folder = `${this.#projectsFolder}/${projectKey}`;
    const found = new Map<string, TranscriptLine[]>();
    for (const path of new Set([MAIN, ...(await this.#store.subpaths())])) {
      found.set(path, await restoreTranscript(this.#store, path, folder, sessionId));
    }
    for (const line of found.get(MAIN) ?? []) for (const uuid of messageUuids(line)) this.#remembered.add(uuid);
    // Claude Code notes a message in its queue before it writes the message, and resumes no file with such notes alone.
    if (this.#remembered.size === 0) {
      this.#failure = new LlmError("no_conversation", "The store has no messages of the conversation to resume.");
      throw this.#failure;
    }
    const file = `${folder}/${sessionId}.jsonl`;
    if (!this.#continuation) await closeMarkedCalls(this.#store, file);
    this.#onFound(found, this.#continuation !== undefined && (await finishTurn(this.#store, file, this.#continuation)));
    return null;
  }

  /** Resolves when all received lines are stored. `expected`: a turn has ended, so there must be some. */
  async flush(expected: boolean): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#writing) await this.#write();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new RequestError("unavailable", `The transcript could not be stored: ${why}`, {
        fix: "Check the database and its disk; the conversation cannot be resumed elsewhere until it is stored.",
        cause,
      });
    }
    if (!expected || this.#seen > 0) return;
    throw new LlmError("process_died", "Claude Code wrote its transcript where it is not looked for.", {
      fix: "Set CLAUDE_CONFIG_DIR for Tandem and Claude Code alike.",
    });
  }

  /** A single writer keeps the lines in order. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve();
    try {
      await this.#empty();
    } finally {
      // Clear synchronously after the emptiness check; a line added in between would never be written.
      this.#writing = undefined;
    }
  }

  async #empty(): Promise<void> {
    while (this.#waiting.length > 0) {
      const { subpath } = this.#waiting[0]!;
      const end = this.#waiting.findIndex((other) => other.subpath !== subpath);
      const batch = this.#waiting.slice(0, end === -1 ? undefined : end);
      const lines = batch.flatMap((part) => part.lines);
      await this.#store.append(subpath, lines);
      this.#waiting = this.#waiting.slice(batch.length);
      for (const id of lines.flatMap(toolUseIds)) this.#calls.add(id);
      for (const id of lines.flatMap(resultIds)) this.#results.add(id);
      this.#stored.resolve();
      this.#stored = Promise.withResolvers();
    }
  }
}
