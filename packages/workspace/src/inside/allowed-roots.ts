import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { RequestError } from "@tandem/protocol";
import { isInside } from "./is-inside.ts";

/** The folders that sessions may work in. */
export class AllowedRoots {
  /** Real paths. */
  readonly folders: readonly string[];
  readonly #asNamed: readonly string[];
  readonly #added: () => Promise<readonly string[]>;

  private constructor(folders: readonly string[], asNamed: readonly string[], added: () => Promise<readonly string[]>) {
    this.folders = folders;
    this.#asNamed = asNamed;
    this.#added = added;
  }

  /**
   * Rejects roots that are not folders: they would allow whatever is created there later. `added` returns further roots,
   * as real paths; it is called for each folder that is in none of the others.
   */
  static async open(
    roots: readonly string[],
    added: () => Promise<readonly string[]> = async () => [],
  ): Promise<AllowedRoots> {
    const named = roots.map((root) => resolve(root));
    return new AllowedRoots(await Promise.all(named.map(realFolder)), named, added);
  }

  /** Real path of a folder below a root. For other folders it does not even reveal whether they exist. */
  async resolve(folder: string): Promise<string> {
    if (folder.includes("\0") || !isAbsolute(folder)) {
      throw new RequestError(
        "invalid_request",
        `Expected the absolute path of a folder, not ${JSON.stringify(folder)}.`,
      );
    }
    const named = resolve(folder);
    const isNamedInside = [...this.#asNamed, ...this.folders].some((root) => isInside(root, named));
    const real = await realFolder(named).catch((error: unknown) => {
      throw isNamedInside ? error : this.#outside(folder);
    });
    if (this.folders.some((root) => isInside(root, real))) return real;
    if ((await this.#added()).some((root) => isInside(root, real))) return real;
    throw this.#outside(folder);
  }

  #outside(folder: string): RequestError {
    const roots = this.folders.join(", ") || "none";
    return new RequestError("forbidden", `The folder ${folder} is not under an allowed root (${roots}).`, {
      fix: "Add it to the server with `tandem folders add`, or choose a folder under one of these.",
    });
  }
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw new RequestError("invalid_request", `The folder ${path} does not exist or cannot be entered.`, { cause });
  }
  throw new RequestError("invalid_request", `${path} is not a folder.`);
}
