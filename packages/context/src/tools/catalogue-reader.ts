import { inParallel, nearest, RequestError } from "@tandem/protocol";
import { locateTable } from "../catalogue/locate-table.ts";
import { parseTableFile, type TableFile } from "../catalogue/table-file.ts";
import { readOutline, type TableOutline } from "../catalogue/table-outline.ts";
import { type TableIdentity, withoutHash } from "../catalogue/table-path.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";

const PREFIX = "catalogue/";
/** Bounds open files; there may be thousands. */
const AT_ONCE = 64;

/**
 * Reads the catalogue from the folder. Invalid files are skipped; search lists them. Caches an outline per table,
 * refreshed when its file changes.
 */
export class CatalogueReader {
  readonly #folder: ContextFolder;
  readonly #outlines = new Map<string, { stamp: string; outline: TableOutline | undefined }>();

  constructor(folder: ContextFolder) {
    this.#folder = folder;
  }

  async connections(): Promise<string[]> {
    const paths = await this.#folder.list(PREFIX);
    return [...new Set(paths.map((path) => path.slice(PREFIX.length).split("/", 1)[0]!))];
  }

  /** Descriptions and joins of tables, without columns. */
  async outlines(connection: string): Promise<TableOutline[]> {
    const prefix = `${PREFIX}${connection}/`;
    const stamps = await this.#folder.stamps(prefix);
    for (const path of this.#outlines.keys()) {
      if (path.startsWith(prefix) && !stamps.has(path)) this.#outlines.delete(path);
    }
    const found: (TableOutline | undefined)[] = [];
    await inParallel([...stamps], AT_ONCE, async ([path, stamp], index) => {
      const known = this.#outlines.get(path);
      if (stamp !== undefined && known?.stamp === stamp) {
        found[index] = known.outline;
        return;
      }
      const text = await this.#folder.read(path).catch(leftAlone);
      const outline = text === undefined ? undefined : readOutline(text);
      if (stamp !== undefined) this.#outlines.set(path, { stamp, outline });
      found[index] = outline;
    });
    return found.filter((outline) => outline !== undefined);
  }

  /** Complete tables, always read again. */
  async tables(connection: string): Promise<TableFile[]> {
    const paths = await this.#folder.list(`${PREFIX}${connection}/`);
    const files: (TableFile | undefined)[] = [];
    await inParallel(paths, AT_ONCE, async (path, index) => {
      files[index] = await this.#read(path);
    });
    return files.filter((file) => file !== undefined);
  }

  async read(table: TableIdentity): Promise<TableFile | undefined> {
    return (await locateTable(this.#folder, table))?.file;
  }

  /**
   * By `connection/schema.table`, `schema.table` or `table`, case-insensitive; an ambiguous name is an error that lists
   * the matches.
   */
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

  /** From paths alone, so that finding one table does not read a thousand. */
  async #candidates(connection?: string): Promise<{ path: string; names: string[] }[]> {
    const paths = await this.#folder.list(connection === undefined ? PREFIX : `${PREFIX}${connection}/`);
    return paths.map((path) => {
      const full = withoutHash(path.slice(PREFIX.length).replace(/\.yaml$/, ""));
      const qualified = full.slice(full.indexOf("/") + 1);
      return { path, names: [full, qualified, qualified.slice(qualified.indexOf(".") + 1)].map(decode) };
    });
  }

  async #read(path: string): Promise<TableFile | undefined> {
    const text = await this.#folder.read(path).catch(leftAlone);
    if (text === undefined) return undefined;
    const parsed = parseTableFile(text);
    return parsed.success ? parsed.table : undefined;
  }
}

/** People write paths too, so decoding may fail. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
