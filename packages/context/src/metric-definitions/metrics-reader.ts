import type { Dialect } from "@tandem/connectors";
import { buildModel, type CataloguedTable, type MetricsFile, metricsFile, type Model } from "@tandem/metrics";
import { foldedPath, tablePath } from "../catalogue/table-path.ts";
import { parseTableFile } from "../catalogue/table-file.ts";
import { describeProblem } from "../formats/file-problem.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { StampedCache } from "../folder/stamped-cache.ts";
import { readYaml, type ReadYaml } from "../formats/read-yaml.ts";
import { connectionOf, isMetricsPath, METRICS_PREFIX } from "./metrics-path.ts";
import { readCataloguedTable } from "../catalogue/read-catalogued-table.ts";

/** A file of `metrics/<connection>/`. */
export interface DefinitionFile {
  readonly path: string;
  readonly connection: string;
  readonly text: string;
  readonly read: ReadYaml<MetricsFile>;
}

/** The definitions of one connection, checked against the catalogue. */
export interface ConnectionMetrics {
  readonly connection: string;
  readonly files: readonly DefinitionFile[];
  readonly model: Model;
}

/** Reads metrics files and the catalogue, and builds a model for each connection. All are cached until a file changes. */
export class MetricsReader {
  readonly #folder: ContextFolder;
  readonly #dialects: () => ReadonlyMap<string, Dialect>;
  readonly #tables: StampedCache<CataloguedTable>;
  readonly #files: StampedCache<DefinitionFile>;
  readonly #built = new Map<string, { inputs: readonly unknown[]; metrics: ConnectionMetrics }>();

  /** `dialects` is read for each use, because a connection can be added while the server runs. */
  constructor(folder: ContextFolder, dialects: () => ReadonlyMap<string, Dialect>) {
    this.#folder = folder;
    this.#dialects = dialects;
    this.#files = new StampedCache(folder, (text, path) =>
      isMetricsPath(path) ? readDefinition(text, path) : undefined,
    );
    this.#tables = new StampedCache(folder, (text) => {
      const parsed = parseTableFile(text);
      return parsed.success && !parsed.table.gone ? readCataloguedTable(parsed.table) : undefined;
    });
  }

  /** Connections with metrics files, whether or not the config has them. */
  async connections(): Promise<string[]> {
    const paths = await this.#folder.list(METRICS_PREFIX);
    return [...new Set(paths.filter(isMetricsPath).map(connectionOf))];
  }

  /** Undefined if the project has no such connection: its dialect is unknown. */
  async read(connection: string): Promise<ConnectionMetrics | undefined> {
    const dialect = this.#dialects().get(connection);
    if (dialect === undefined) return undefined;
    const files = await this.#files.all(`${METRICS_PREFIX}${connection}/`);
    const tables = await this.#tablesOf(connection, files);
    const inputs = [dialect, ...files, ...tables];
    const known = this.#built.get(connection);
    // The caches return the same objects for unchanged files.
    if (known?.inputs.length === inputs.length && known.inputs.every((input, at) => input === inputs[at])) {
      return known.metrics;
    }
    const valid = files.flatMap(({ read }) => (read.success ? [read.value] : []));
    const metrics = { connection, files, model: buildModel({ dialect, files: valid, tables }) };
    this.#built.set(connection, { inputs, metrics });
    return metrics;
  }

  /** The connection's tables in the catalogue. */
  tables(connection: string): Promise<CataloguedTable[]> {
    return this.#tables.all(`catalogue/${connection}/`);
  }

  /** The model as it would be with another text of a file; null removes the file. */
  readWith(connection: string, path: string, text: string | null): Promise<ConnectionMetrics | undefined> {
    return this.readWithAll(connection, new Map([[path, text]]));
  }

  /** The model as it would be with other texts of files, by path; null removes a file. */
  async readWithAll(
    connection: string,
    texts: ReadonlyMap<string, string | null>,
  ): Promise<ConnectionMetrics | undefined> {
    const current = await this.read(connection);
    if (!current) return undefined;
    const changed = [...texts].flatMap(([path, text]) => (text === null ? [] : [readDefinition(text, path)]));
    const files = [...current.files.filter((file) => !texts.has(file.path)), ...changed];
    const tables = await this.#tablesOf(connection, files);
    const valid = files.flatMap(({ read }) => (read.success ? [read.value] : []));
    return { connection, files, model: buildModel({ dialect: current.model.dialect, files: valid, tables }) };
  }

  /** Only the tables that the files name: parsing a catalogue of a thousand tables takes seconds. */
  #tablesOf(connection: string, files: readonly DefinitionFile[]): Promise<CataloguedTable[]> {
    const names = files.flatMap(({ read }) => (read.success ? [read.value.table] : []));
    const paths = new Set(
      names.flatMap((name) =>
        // Either name may contain dots.
        [...name.matchAll(/\./g)].map(({ index }) =>
          foldedPath(tablePath({ connection, schema: name.slice(0, index), table: name.slice(index + 1) })),
        ),
      ),
    );
    // A path with a hash may be cut, so that its name is only in the file.
    return this.#tables.all(`catalogue/${connection}/`, (path) => paths.has(foldedPath(path)) || HASHED.test(path));
  }
}

const HASHED = /~[0-9a-f]{12}\.yaml$/;

const readDefinition = (text: string, path: string): DefinitionFile => ({
  path,
  connection: connectionOf(path),
  text,
  read: readYaml(text, metricsFile),
});

/** Why a file is not read, in sentences. */
export const problemOf = ({ read }: DefinitionFile): string | undefined =>
  read.success ? undefined : read.problems.map(describeProblem).join(" ");
