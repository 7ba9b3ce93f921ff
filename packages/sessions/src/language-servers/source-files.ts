import { opendir, stat } from "node:fs/promises";
import { extname, join } from "node:path";

const MAX_DEPTH = 16;
const STATS_AT_ONCE = 32;
/** Not sources of the folder, and often large. Hidden folders are left out, too. */
const SKIPPED = new Set(["node_modules", "__pycache__", "venv"]);

/** Paths of the folder's files, nearest to the top first, up to `limit` entries. Links are not followed. */
export async function* sourceFiles(folder: string, limit: number): AsyncGenerator<string> {
  let seen = 0;
  let level = [folder];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      const entries = await opendir(path).catch(() => undefined);
      if (!entries) continue;
      for await (const entry of entries) {
        if ((seen += 1) > limit) return;
        const inner = join(path, entry.name);
        if (entry.isDirectory() && !entry.name.startsWith(".") && !SKIPPED.has(entry.name)) next.push(inner);
        else if (entry.isFile()) yield inner;
      }
    }
    level = next;
  }
}

/** Whether a file was created, changed or deleted, in the numbers of the protocol. */
const CHANGE = { created: 1, changed: 2, deleted: 3 } as const;

/** Files that configure a language server, such as `tsconfig.json` and `pyproject.toml`. */
const isConfiguration = (path: string): boolean => /\.(?:json|toml|ini|cfg|mod)$/.test(path);

/**
 * Finds which files of a folder changed since the last look. A language server does not watch the folder itself, because programs
 * in a sandbox and programs without one watch differently.
 */
export class FolderChanges {
  readonly #folder: string;
  readonly #limit: number;
  readonly #isWatched: (path: string) => boolean;
  #known: Map<string, string> | undefined;

  constructor(folder: string, extensions: ReadonlySet<string>, limit: number) {
    this.#folder = folder;
    this.#limit = limit;
    this.#isWatched = (path) => extensions.has(extname(path)) || isConfiguration(path);
  }

  /** The first look finds no changes. */
  async look(): Promise<{ path: string; type: number }[]> {
    const before = this.#known;
    const now = new Map<string, string>();
    let batch: Promise<void>[] = [];
    for await (const path of sourceFiles(this.#folder, this.#limit)) {
      if (!this.#isWatched(path)) continue;
      batch.push(
        stat(path).then(
          ({ mtimeMs, size }) => void now.set(path, `${mtimeMs} ${size}`),
          () => undefined,
        ),
      );
      if (batch.length < STATS_AT_ONCE) continue;
      await Promise.all(batch);
      batch = [];
    }
    await Promise.all(batch);
    this.#known = now;
    if (!before) return [];
    const changed = [...now].flatMap(([path, state]) => {
      const old = before.get(path);
      if (old === state) return [];
      return [{ path, type: old === undefined ? CHANGE.created : CHANGE.changed }];
    });
    const deleted = [...before.keys()].filter((path) => !now.has(path));
    return [...changed, ...deleted.map((path) => ({ path, type: CHANGE.deleted }))];
  }
}
