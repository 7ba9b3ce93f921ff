import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";

export interface PortBlock {
  from: number;
  size: number;
}

const LAST_PORT = 65_535;

/**
 * Port ranges assigned to folders: one file `FROM-SIZE` per block, containing its folder. Creating the file takes the
 * block atomically, so concurrent processes get different blocks. A block whose folder is gone is free again.
 */
export class PortBlocks {
  readonly #place: string;

  constructor(place: string) {
    this.#place = place;
  }

  /** The first free block from `from` on in which no process listens. */
  async take(folder: string, { from, size }: PortBlock): Promise<PortBlock> {
    await mkdir(this.#place, { recursive: true, mode: 0o700 });
    for (let first = from; first + size - 1 <= LAST_PORT; first += size) {
      const block = { from: first, size };
      if ((await this.#others(block, folder)).length > 0 || !(await isQuiet(block))) continue;
      const file = join(this.#place, `${first}-${size}`);
      const isOurs = await writeFile(file, folder, { flag: "wx", mode: 0o600 }).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "EEXIST") return false;
          throw error;
        },
      );
      if (!isOurs) continue;
      // Check for a race with a process that uses another block size.
      if ((await this.#others(block, folder)).length === 0) return block;
      await rm(file, { force: true });
    }
    throw new RequestError(
      "unavailable",
      `There are no ${size} ports left from ${from} on that belong to no worktree.`,
      {
        fix: "Remove worktrees that are not needed any more (`tandem sessions worktrees prune`), or set worktrees.ports.",
      },
    );
  }

  async free(folder: string): Promise<void> {
    for (const { file } of await this.#claims((owner) => owner === folder)) await rm(file, { force: true });
  }

  /** Overlapping claims of other folders. Removes stale ones. */
  async #others(block: PortBlock, folder: string): Promise<unknown[]> {
    const claims = await this.#claims((owner) => owner !== folder);
    const overlapping = claims.filter(({ from, size }) => from < block.from + block.size && block.from < from + size);
    const alive = await Promise.all(
      overlapping.map(async ({ file, owner }) => {
        const isThere = await stat(owner).then(
          () => true,
          () => false,
        );
        if (!isThere) await rm(file, { force: true });
        return isThere;
      }),
    );
    return overlapping.filter((_, index) => alive[index]);
  }

  async #claims(isWanted: (owner: string) => boolean) {
    const names = await readdir(this.#place).catch(() => []);
    const found = await Promise.all(
      names.map(async (name) => {
        const [, from, size] = /^(\d+)-(\d+)$/.exec(name) ?? [];
        const file = join(this.#place, name);
        const owner = await readFile(file, "utf8").catch(() => "");
        return from && size && isWanted(owner) ? [{ file, from: Number(from), size: Number(size), owner }] : [];
      }),
    );
    return found.flat();
  }
}

async function isQuiet({ from, size }: PortBlock): Promise<boolean> {
  for (let port = from; port < from + size; port += 1) {
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
    });
    if (!isFree) return false;
  }
  return true;
}
