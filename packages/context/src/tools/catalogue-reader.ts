import { nearest, RequestError } from "@tandem/protocol";
import { parseTableFile } from "../catalogue/parse-table-file.ts";
import type { TableFile } from "../catalogue/table-file.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { inParallel } from "../in-parallel.ts";

const PREFIX = "catalogue/";
/** Each is an open file, and there may be thousands. */
const AT_ONCE = 64;

/** The catalogue as it stands in the folder. A file that cannot be read as a table is passed over: the search lists it. */
export class CatalogueReader {
  readonly #folder: ContextFolder;
  readonly #parsed = new Map<string, { text: string; file: TableFile | undefined }>();

  constructor(folder: ContextFolder) {
    this.#folder = folder;
  }

  async connections(): Promise<string[]> {
    const paths = await this.#folder.list(PREFIX);
    return [...new Set(paths.map((path) => path.slice(PREFIX.length).split("/", 1)[0]!))];
  }

  async tables(connection: string): Promise<TableFile[]> {
    const paths = await this.#folder.list(`${PREFIX}${connection}/`);
    const files: (TableFile | undefined)[] = [];
    await inParallel(paths, AT_ONCE, async (path, index) => {
      files[index] = await this.#read(path);
    });
    return files.filter((file) => file !== undefined);
  }

  /** By `connection/schema.table`, `schema.table` or `table`, in any case; more than one that fits is an error that lists them. */
  async find(name: string, connection?: string): Promise<TableFile> {
    const bare = name.replace(/^table:/, "");
    const wanted = bare.toLowerCase();
    const candidates = await this.#candidates(connection);
    const exact = candidates.filter(({ names }) => names.includes(bare));
    const found =
      exact.length > 0 ? exact : candidates.filter(({ names }) => names.some((n) => n.toLowerCase() === wanted));
    if (found.length > 1) {
      throw new RequestError("invalid_request", `There is more than one table ${bare}.`, {
        fix: `Name one of: ${found.map(({ names }) => names[0]).join(", ")}.`,
      });
    }
    const file = found[0] && (await this.#read(found[0].path));
    if (file) return file;
    const meant = nearest(
      bare,
      candidates.flatMap(({ names }) => names),
    );
    throw new RequestError("not_found", `There is no table ${bare} in the catalogue.`, {
      fix: meant ? `Did you mean ${meant}?` : "Look for it with context_search.",
    });
  }

  /** From the paths alone, so that finding one table does not read a thousand. */
  async #candidates(connection?: string): Promise<{ path: string; names: string[] }[]> {
    const paths = await this.#folder.list(connection === undefined ? PREFIX : `${PREFIX}${connection}/`);
    return paths.map((path) => {
      const full = path.slice(PREFIX.length).replace(/\.yaml$/, "");
      const qualified = full.slice(full.indexOf("/") + 1);
      return { path, names: [full, qualified, qualified.slice(qualified.indexOf(".") + 1)].map(decode) };
    });
  }

  async #read(path: string): Promise<TableFile | undefined> {
    const text = await this.#folder.read(path).catch(leftAlone);
    if (text === undefined) return undefined;
    const known = this.#parsed.get(path);
    if (known?.text === text) return known.file;
    const parsed = parseTableFile(text);
    const file = parsed.success ? parsed.table : undefined;
    this.#parsed.set(path, { text, file });
    return file;
  }
}

/** Paths are written by people too. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
