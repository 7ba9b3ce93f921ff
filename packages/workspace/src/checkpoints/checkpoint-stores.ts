import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CheckpointStore, type Checkpoint } from "./checkpoint-store.ts";
import type { Owner } from "../give-tree.ts";
import { PrivateGit } from "./private-git.ts";
import type { FolderLimits } from "./read-folder.ts";

export interface CheckpointLimits extends FolderLimits {
  /** Of all checkpoints; the oldest are pruned first. */
  maxTotalBytes: number;
  keepMs: number;
}

/** The latest of each owner are always kept, because an undoable rewind is one of them. */
const SPARED = 4;
/** Loose objects use many times the disk space of packed ones. */
const MAX_LOOSE = 2_000;

/** The OS user whose programs change the folders. git runs as that user, so that no link of theirs leads it elsewhere. */
export interface CheckpointUser extends Owner {
  /** Gives the user a folder and the place of its checkpoints. Resolves to false for a folder that is not the user's. */
  give(folder: string, place: string): Promise<boolean>;
}

/** The checkpoints of all folders. */
export class CheckpointStores {
  readonly #root: string;
  readonly #limits: CheckpointLimits;
  readonly #user: CheckpointUser | undefined;
  readonly #stores = new Map<string, CheckpointStore>();

  constructor(root: string, limits: CheckpointLimits, user?: CheckpointUser) {
    this.#root = root;
    this.#limits = limits;
    this.#user = user;
  }

  /** The store of one folder, by its real path. */
  async of(folder: string): Promise<CheckpointStore> {
    const known = this.#stores.get(folder);
    if (known) return known;
    const place = this.#place(folder);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await writeFile(join(place, "folder"), folder, { mode: 0o600 });
    return this.#open(folder, place);
  }

  /** Prunes old and excess checkpoints. Returns how many were dropped and the remaining size. */
  async prune(now = Date.now()): Promise<{ dropped: number; bytes: number }> {
    let dropped = 0;
    const rest: { store: CheckpointStore; kept: Checkpoint[]; bytes: number }[] = [];
    for (const { store, place } of await this.#all(now)) {
      const all = await store.list();
      const old = all.filter(({ at }) => now - Date.parse(at) > this.#limits.keepMs);
      dropped += old.length;
      if (old.length === all.length && all.length > 0) {
        this.#stores.delete(store.folder);
        await rm(place, { recursive: true, force: true });
        continue;
      }
      await store.drop(old);
      if (old.length > 0 || (await store.size()).loose > MAX_LOOSE) await store.collect();
      rest.push({ store, kept: all.slice(old.length), bytes: (await store.size()).bytes });
    }
    let bytes = rest.reduce((total, each) => total + each.bytes, 0);
    // Drops half of the candidates at a time, because the size of a single checkpoint is unknown before it is gone.
    for (const { store, kept, bytes: own } of rest.sort(byAge)) {
      if (bytes <= this.#limits.maxTotalBytes) break;
      const droppable = kept.filter((checkpoint) => !isSpared(checkpoint, kept));
      const gone = droppable.slice(0, Math.ceil(droppable.length / 2));
      await store.drop(gone);
      await store.collect();
      dropped += gone.length;
      bytes += (await store.size()).bytes - own;
    }
    return { dropped, bytes };
  }

  /** Deletes all checkpoints of an owner. */
  async forget(owner: string, folder: string): Promise<void> {
    if (await stat(folder).catch(() => undefined)) {
      const store = await this.of(folder);
      await store.drop(await store.list(owner));
      if ((await store.list()).length > 0) return store.collect();
    }
    this.#stores.delete(folder);
    await rm(this.#place(folder), { recursive: true, force: true });
  }

  #place(folder: string): string {
    return join(this.#root, nameOf(folder));
  }

  async #all(now: number): Promise<{ store: CheckpointStore; place: string }[]> {
    const names = await readdir(this.#root).catch(() => []);
    const found = names.map(async (name) => {
      const place = join(this.#root, name);
      const folder = await readFile(join(place, "folder"), "utf8").catch(() => undefined);
      const isThere = folder !== undefined && (await stat(folder).catch(() => undefined))?.isDirectory();
      if (isThere) return [{ store: await this.#open(folder, place), place }];
      // A missing folder, for example on an unmounted disk, may come back.
      const used = await stat(join(place, "git", "indexes")).catch(() => undefined);
      if (!used || now - used.mtimeMs > this.#limits.keepMs) await rm(place, { recursive: true, force: true });
      return [];
    });
    return (await Promise.all(found)).flat();
  }

  async #open(folder: string, place: string): Promise<CheckpointStore> {
    const known = this.#stores.get(folder);
    if (known) return known;
    const { uid, gid } = this.#user ?? {};
    const user =
      uid !== undefined && gid !== undefined && (await this.#user?.give(folder, place)) ? { uid, gid } : undefined;
    const store = new CheckpointStore(new PrivateGit(join(place, "git"), folder, user), this.#limits);
    this.#stores.set(folder, store);
    return store;
  }
}

const nameOf = (folder: string): string => createHash("sha256").update(folder).digest("hex").slice(0, 24);

/** Renames stores whose `folder` file was changed to the new path of a moved folder. No process may use them. */
export async function renameMovedStores(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const place = join(root, nameOf(await readFile(join(root, name, "folder"), "utf8")));
    await rename(join(root, name), place);
    // Archives leave out empty folders.
    await mkdir(join(place, "git", "indexes"), { recursive: true });
  }
}

const byAge = (a: { kept: Checkpoint[] }, b: { kept: Checkpoint[] }): number =>
  (a.kept[0]?.at ?? "") < (b.kept[0]?.at ?? "") ? -1 : 1;

const isSpared = (checkpoint: Checkpoint, all: readonly Checkpoint[]): boolean =>
  all
    .filter(({ owner }) => owner === checkpoint.owner)
    .slice(-SPARED)
    .includes(checkpoint);
