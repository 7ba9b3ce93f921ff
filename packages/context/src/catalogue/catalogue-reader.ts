import { inParallel, nearest, RequestError } from "@tandem/protocol";
import { locateTable } from "./locate-table.ts";
import { parseTableFile, type TableFile } from "./table-file.ts";
import { readOutline, type TableOutline } from "./table-outline.ts";
import { decodeName, type TableIdentity, withoutHash } from "./table-path.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { StampedCache } from "../folder/stamped-cache.ts";
import { type PageSummary, readPageSummary } from "../wiki/page-summary.ts";
import { readColumnValues, type TableValues } from "./column-values.ts";

const PREFIX = "catalogue/";
/** Bounds open files; there may be thousands. */
const AT_ONCE = 64;

/**
 * Reads the catalogue and the heads of wiki pages from the folder. Invalid files are skipped; search lists them. Caches what it
 * parses per file, until the file changes.
 */
export class CatalogueReader {
  readonly #folder: ContextFolder;
  readonly #outlines: StampedCache<TableOutline>;
  readonly #values: StampedCache<TableValues>;
  readonly #pages: StampedCache<PageSummary>;

  constructor(folder: ContextFolder) {
    this.#folder = folder;
    this.#outlines = new StampedCache(folder, readOutline);
    this.#values = new StampedCache(folder, readColumnValues);
    this.#pages = new StampedCache(folder, readPageSummary);
  }

  async connections(): Promise<string[]> {
    const paths = await this.#folder.list(PREFIX);
    return [...new Set(paths.map((path) => path.slice(PREFIX.length).split("/", 1)[0]!))];
  }

  /** Descriptions and joins of tables, without columns. */
  outlines(connection: string): Promise<TableOutline[]> {
    return this.#outlines.all(`${PREFIX}${connection}/`);
  }

  /** The stored values of all columns. */
  values(connection: string): Promise<TableValues[]> {
    return this.#values.all(`${PREFIX}${connection}/`);
  }

  /** The wiki's pages, which refer to tables. */
  pages(): Promise<PageSummary[]> {
    return this.#pages.all("wiki/");
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
      fix: meant ? `Did you mean ${meant}?` : "Search the context for it.",
    });
  }

  /** From paths alone, so that finding one table does not read a thousand. */
  async #candidates(connection?: string): Promise<{ path: string; names: string[] }[]> {
    const paths = await this.#folder.list(connection === undefined ? PREFIX : `${PREFIX}${connection}/`);
    return paths.map((path) => {
      const full = withoutHash(path.slice(PREFIX.length).replace(/\.yaml$/, ""));
      const qualified = full.slice(full.indexOf("/") + 1);
      return { path, names: [full, qualified, qualified.slice(qualified.indexOf(".") + 1)].map(decodeName) };
    });
  }

  async #read(path: string): Promise<TableFile | undefined> {
    const text = await this.#folder.read(path).catch(leftAlone);
    if (text === undefined) return undefined;
    const parsed = parseTableFile(text);
    return parsed.success ? parsed.table : undefined;
  }
}
