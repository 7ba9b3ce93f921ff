import type { Connection } from "@tandem/connectors";
import { exportMetricFlow, exportOssie, type ExportResult, metricParts, type Model } from "@tandem/metrics";
import type {
  MetricAnswer,
  MetricDefinition,
  MetricField,
  MetricProblem,
  MetricQuery,
  MetricSummary,
} from "@tandem/protocol";
import { nearest, RequestError } from "@tandem/protocol";
import type { ContextFolder } from "../folder/context-folder.ts";
import type { Proposals } from "../proposals/proposals.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { explainMetrics, modelProblems, newProblems } from "../metric-definitions/check-definitions.ts";
import { definitionVersions } from "../metric-definitions/definition-version.ts";
import {
  brokenBecause,
  describeMetric,
  type FoundMetric,
  metricsOf,
  summarise,
} from "../metric-definitions/describe-metric.ts";
import { describeFields } from "./describe-fields.ts";
import { answerQuery } from "./answer-query.ts";
import { importProject, type ImportProjectInput, type ProjectImport } from "./import-project.ts";
import { connectionOf, isMetricsPath, METRICS_PREFIX } from "../metric-definitions/metrics-path.ts";
import type { ConnectionMetrics, MetricsReader } from "../metric-definitions/metrics-reader.ts";
import { refused } from "./refused.ts";

export interface MetricsParts {
  folder: ContextFolder;
  catalogue: CatalogueReader;
  reader: MetricsReader;
  open: (connection: string) => Promise<Connection>;
  now?: () => Date;
}

/** A query, and whether it is only compiled. */
export type MetricQuestion = MetricQuery & { connection?: string | undefined; compile_only?: boolean };

/** The metrics of a context: their definitions, and answers computed from them. */
export class Metrics {
  readonly #parts: MetricsParts;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
  }

  /** All metrics, with broken ones. `query` is a part of a name, label, other name or description. */
  async list({ connection, query }: { connection?: string | undefined; query?: string | undefined } = {}): Promise<
    MetricSummary[]
  > {
    const all = await this.#all(connection);
    const words = (query ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    return all
      .flatMap((connected) => metricsOf(connected).map((found) => summarise(connected, found)))
      .filter((metric) => {
        const text = [metric.name, metric.label, metric.description, metric.entity, ...metric.aka]
          .join(" ")
          .toLowerCase();
        return words.every((word) => text.includes(word));
      });
  }

  /** The definitions that statements of a connection are compared with. */
  async modelOf(connection: string): Promise<Model | undefined> {
    return (await this.#parts.reader.read(connection))?.model;
  }

  /** The usable metrics that are computed from a table, given as `schema.table`. */
  async ofTable(connection: string, table: string): Promise<MetricSummary[]> {
    const connected = await this.#parts.reader.read(connection);
    if (!connected) return [];
    return metricsOf(connected)
      .filter(({ name, metric }) => metric && metricParts(connected.model, name).tables.includes(table))
      .map((found) => summarise(connected, found));
  }

  async retrieve({ name, connection }: { name: string; connection?: string | undefined }): Promise<MetricDefinition> {
    const { connected, found } = await this.#find(name, connection);
    const versions = await definitionVersions(this.#parts.folder, [found.file]);
    return {
      ...summarise(connected, found),
      ...describeMetric(connected, found),
      version: versions.get(found.file.path)!,
      fields: found.metric ? await this.#fields(connected, [name]) : [],
    };
  }

  /** The fields that apply to all of the metrics. */
  async fields({
    metrics,
    connection,
  }: {
    metrics: readonly string[];
    connection?: string | undefined;
  }): Promise<MetricField[]> {
    return this.#fields(await this.#holding(metrics, connection), metrics);
  }

  async query(question: MetricQuestion, { signal }: { signal: AbortSignal }): Promise<MetricAnswer> {
    const { connection, compile_only: compileOnly = false, ...query } = question;
    const connected = await this.#holding(query.metrics, connection);
    const now = this.#parts.now?.() ?? new Date();
    const open = compileOnly ? undefined : () => this.#parts.open(connected.connection);
    return refused(() => answerQuery({ connected, query, now, folder: this.#parts.folder, open, signal }));
  }

  /** Everything that keeps definitions from being used. */
  async check({ connection }: { connection?: string | undefined } = {}): Promise<MetricProblem[]> {
    const names = connection === undefined ? await this.#parts.reader.connections() : [connection];
    return (await Promise.all(names.map((name) => this.#problems(name)))).flat();
  }

  /** Lets the databases plan every usable metric. `unreachable` has the databases that could not be asked. */
  async explain(
    { connection }: { connection?: string | undefined },
    { signal }: { signal: AbortSignal },
  ): Promise<{ problems: MetricProblem[]; unreachable: { connection: string; message: string }[] }> {
    const result = { problems: [] as MetricProblem[], unreachable: [] as { connection: string; message: string }[] };
    for (const connected of await this.#all(connection)) {
      const found = await explainMetrics(connected, () => true, this.#parts.open, signal);
      result.problems.push(...found.problems);
      if (found.unreachable !== undefined) {
        result.unreachable.push({ connection: connected.connection, message: found.unreachable });
      }
    }
    return result;
  }

  /**
   * Checks a proposed text of a metrics file: it is read, fits the catalogue, breaks no other file, and each of its metrics
   * compiles and can be planned by the database, if that can be reached. No problems: it may be proposed.
   */
  async gate(
    { path, text }: { path: string; text: string },
    { signal }: { signal: AbortSignal },
  ): Promise<MetricProblem[]> {
    const connection = connectionOf(path);
    const before = await this.#parts.reader.read(connection);
    const after = await this.#parts.reader.readWith(connection, path, text);
    if (!isMetricsPath(path) || !before || !after) {
      const message = `${path} is no metrics file of a connection.`;
      return [{ connection, path, message, fix: "Write metrics/<connection>/<entity>.yaml." }];
    }
    const problems = newProblems(
      modelProblems(before).filter((each) => each.path !== path),
      modelProblems(after),
    );
    if (problems.length > 0) return problems;
    return (await explainMetrics(after, ({ file }) => file.path === path, this.#parts.open, signal)).problems;
  }

  /** Translates the definitions of a foreign project, and proposes them unless `dryRun` is set. */
  importProject(proposals: Proposals, input: ImportProjectInput): Promise<ProjectImport> {
    return importProject({ ...this.#parts, proposals }, input);
  }

  /** The definitions of a connection in another product's format. */
  async exportTo(format: "ossie" | "metricflow", connection: string): Promise<ExportResult> {
    const connected = await this.#parts.reader.read(connection);
    const files = (connected?.files ?? []).flatMap(({ read }) => (read.success ? [read.value] : []));
    if (!connected || files.length === 0) {
      throw new RequestError("not_found", `The connection ${connection} has no metrics.`, { fix: NONE });
    }
    const { model } = connected;
    return format === "ossie" ? exportOssie(connection, files, model) : exportMetricFlow(files, model);
  }

  async #problems(connection: string): Promise<MetricProblem[]> {
    const connected = await this.#parts.reader.read(connection);
    if (!connected) {
      const path = `${METRICS_PREFIX}${connection}/`;
      const message = `There is no connection ${connection}.`;
      return [
        { connection, path, message, fix: "Add the connection, or move the files to the folder of another one." },
      ];
    }
    return modelProblems(connected);
  }

  async #fields(connected: ConnectionMetrics, metrics: readonly string[]): Promise<MetricField[]> {
    const values = await this.#parts.catalogue.values(connected.connection);
    return refused(() => describeFields(connected, metrics, values));
  }

  async #all(connection: string | undefined): Promise<ConnectionMetrics[]> {
    const names = connection === undefined ? await this.#parts.reader.connections() : [connection];
    const read = await Promise.all(names.map((name) => this.#parts.reader.read(name)));
    if (connection !== undefined && !read[0]) {
      throw new RequestError("not_found", `There is no connection ${connection}.`, {
        fix: "List them: tandem connections list",
      });
    }
    return read.filter((connected) => connected !== undefined);
  }

  async #find(
    name: string,
    connection: string | undefined,
  ): Promise<{ connected: ConnectionMetrics; found: FoundMetric }> {
    const all = await this.#all(connection);
    const matches = all.flatMap((connected) => {
      const named = metricsOf(connected).filter((found) => found.name === name);
      const found = named.find(({ metric }) => metric) ?? named[0];
      return found ? [{ connected, found }] : [];
    });
    if (matches.length > 1)
      throw ambiguous(
        name,
        matches.map(({ connected }) => connected.connection),
      );
    if (matches[0]) return matches[0];
    throw unknownMetric(name, all);
  }

  /** The one connection that has the first metric; the compiler reports others that are missing. */
  async #holding(metrics: readonly string[], connection: string | undefined): Promise<ConnectionMetrics> {
    const { connected } = await this.#find(metrics[0]!, connection);
    for (const name of metrics) {
      const named = metricsOf(connected).filter((found) => found.name === name);
      if (!named[0]) throw unknownMetric(name, [connected]);
      if (named.some(({ metric }) => metric)) continue;
      const { message, fix } = brokenBecause(connected, named[0]);
      throw new RequestError("invalid_request", `The metric ${name} cannot be computed. ${message}`, {
        ...(fix !== undefined && { fix }),
        detail: "broken_definition",
      });
    }
    return connected;
  }
}

function unknownMetric(name: string, all: readonly ConnectionMetrics[]): RequestError {
  const found = all.flatMap(metricsOf);
  const known = [...new Set(found.map((each) => each.name))];
  const other = found.find(({ entry }) => entry.aka?.some((aka) => aka.toLowerCase() === name.toLowerCase()));
  const meant = other?.name ?? nearest(name, known);
  return new RequestError("not_found", `There is no metric ${name}.`, {
    fix: meant ? `Did you mean ${meant}?` : known.length > 0 ? `Known: ${known.slice(0, 20).join(", ")}.` : NONE,
  });
}

const NONE = "Define metrics in files of the context: metrics/<connection>/<entity>.yaml.";

const ambiguous = (name: string, connections: readonly string[]): RequestError =>
  new RequestError("invalid_request", `Several connections have a metric ${name}.`, {
    fix: `Name the connection: ${connections.join(" or ")}.`,
  });
