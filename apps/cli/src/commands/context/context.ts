import { foundValues, searchAnswer, type SearchKind, tableGraph, type TableGraph } from "@tandem/context";
import { type ContextHit, RequestError, TandemError } from "@tandem/protocol";
import type { OpenedContext } from "@tandem/tandem/context";
import type { Invocation } from "../../invocation.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import { askTool, withKnowledge } from "../../with-knowledge.ts";
import { describeMetric } from "../../metrics/describe-metrics.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, widthOf, wrap, write, writeResult } from "../../terminal.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { SEARCH_KIND_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("search", "Find metrics, tables, columns, sampled values, pages and memories.")
      .argument("<words...>", "search words, in any language")
      .addOption(
        new Option("--kind <kind>", "only results of this kind (repeatable)")
          .choices(SEARCH_KIND_CHOICES)
          .argParser((kind: string, all: string[] | undefined) => {
            if (SEARCH_KIND_CHOICES.includes(kind)) return [...(all ?? []), kind];
            throw new InvalidArgumentError(`Allowed choices are ${SEARCH_KIND_CHOICES.join(", ")}.`);
          }),
      )
      .option("--connection <name>", "only tables of this connection")
      .option("--limit <number>", "maximum number of results", "10")
      .addOption(json())
      .action(runner(search)),
    "tandem context search refund policy",
    "tandem context search Zürich --kind value",
  );
  examples(
    sub("show", "Print a page, a memory, a metric or a table.")
      .argument("<what>", "a key from `search`, or the name of a table")
      .addOption(json())
      .action(runner(show)),
    "tandem context show orders",
    "tandem context show page:refund-policy",
  );
  examples(
    sub("tables", "List the tables of the catalogue.")
      .argument("[words...]", "only tables with these words in their name or description")
      .option("--connection <name>", "only tables of this connection")
      .option("--limit <number>", "maximum number of tables", "50")
      .addOption(json())
      .action(runner(tables)),
    "tandem context tables",
    "tandem context tables order --connection shop",
  );
  examples(
    sub("values", "Find the columns that hold a value, in spite of case and typos.")
      .argument("<values...>", "values to look up, each quoted if it has spaces")
      .option("--connection <name>", "only tables of this connection")
      .addOption(json())
      .action(runner(values)),
    "tandem context values delivered Zürich",
  );
  examples(
    sub("graph", "Show the joins of one table or of all tables.")
      .argument("[table]", "starting table (default: all tables)")
      .option("--connection <name>", "only tables of this connection")
      .option("--depth <number>", "maximum distance in joins", "1")
      .option("--limit <number>", "maximum number of tables", "100")
      .option("--mermaid", "print a Mermaid diagram")
      .addOption(json())
      .action(runner(graph)),
    "tandem context graph orders --depth 2",
    "tandem context graph --mermaid > joins.mmd",
  );
  examples(
    sub("status", "Show counts, databases, sources, open proposals and unreadable files.")
      .addOption(json())
      .action(runner(status)),
    "tandem context status",
  );
}

export interface SearchOptions {
  kind?: SearchKind[];
  connection?: string;
  limit: string;
}

export async function search(invocation: Invocation, words: string[], options: SearchOptions): Promise<number> {
  const { kind: kinds, connection } = options;
  const input = { query: words.join(" "), kinds, connection, limit: Math.min(50, toCount("--limit", options.limit)) };
  const { structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    askTool(invocation, knowledge, "context_search", input),
  );
  const { hits, related, degraded } = searchAnswer.parse(structured);
  const joined = related ? [`Joined to these: ${related.map(({ key }) => printable(key)).join(", ")}`] : [];
  const lines = [...describeHits(invocation, hits), ...joined.map(styleFor(invocation.stdout).dim)];
  await writeResult(invocation, { hits, related, degraded }, lines);
  if (degraded !== undefined) {
    await write(
      invocation.stderr,
      `${styleFor(invocation.stderr).warn("Searched by keywords only:")} ${printable(degraded)}\n`,
    );
  }
  return hits.length > 0 ? EXIT_CODES.ok.code : EXIT_CODES.failure.code;
}

function describeHits({ stdout }: Invocation, hits: readonly ContextHit[]): string[] {
  const { bold, dim, accent, warn } = styleFor(stdout);
  if (hits.length === 0) return [dim("No results.")];
  const width = Math.min(widthOf(stdout), 200);
  return hits.flatMap(({ key, title, snippet, unreviewed, also = [] }) => {
    const [line = ""] = wrap(printable(snippet).replaceAll(/\s+/g, " ").trim(), width - 2);
    const label = unreviewed
      ? `  ${warn(`unreviewed, from ${printable(`${unreviewed.source}: ${unreviewed.path}`)}`)}`
      : "";
    return [
      `${accent(printable(key))}  ${bold(printable(title))}${label}`,
      ...(line === "" ? [] : [`  ${dim(line)}`]),
      ...also.map((each) => `  ${accent(printable(each.key))}`),
    ];
  });
}

export interface TablesOptions {
  connection?: string;
  limit: string;
}

export async function tables(invocation: Invocation, words: string[], options: TablesOptions): Promise<void> {
  const input = {
    filter: words.join(" "),
    connection: options.connection,
    limit: Math.min(200, toCount("--limit", options.limit)),
  };
  const { markdown, structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    askTool(invocation, knowledge, "table_list", input),
  );
  await writeResult(invocation, structured, [printable(markdown).replaceAll(/^- /gm, "").trimEnd()]);
}

/** Fails if a value is not found, so that scripts notice it. */
export async function values(
  invocation: Invocation,
  wanted: string[],
  { connection }: { connection?: string },
): Promise<number> {
  const { markdown, structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    askTool(invocation, knowledge, "value_lookup", { values: wanted, connection }),
  );
  await writeResult(invocation, structured, [printable(markdown).trimEnd()]);
  return foundValues.parse(structured).missing.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

/** Shows a page or memory by key, or a table by name. */
export async function show(invocation: Invocation, what: string): Promise<void> {
  const { markdown, structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    find(invocation, knowledge, what),
  );
  await writeResult(invocation, structured, [printable(markdown).trimEnd()]);
}

async function find(invocation: Invocation, knowledge: OpenedContext, what: string) {
  const page = () => askTool(invocation, knowledge, "page_read", { key: what });
  const metric = /^metric:([^/]+)\/(.+)$/.exec(what);
  if (metric) return showMetric(invocation, knowledge, metric[1]!, metric[2]!);
  if (/^(page|memory|chunk):/.test(what)) return page();
  try {
    return await askTool(invocation, knowledge, "table_describe", { table: what });
  } catch (error) {
    if (!(error instanceof RequestError && error.code === "not_found") || what.startsWith("table:")) throw error;
    // If neither matches, report the table error: it suggests similar names.
    return page().catch(() => {
      throw error;
    });
  }
}

async function showMetric({ stdout }: Invocation, { metrics }: OpenedContext, connection: string, name: string) {
  const found = await metrics.retrieve({ name, connection });
  return { markdown: describeMetric(styleFor(stdout), found).join("\n"), structured: found };
}

export interface GraphOptions {
  connection?: string;
  depth: string;
  limit: string;
  mermaid?: boolean;
}

export async function graph(invocation: Invocation, name: string | undefined, options: GraphOptions): Promise<void> {
  if (!/^\d{1,2}$/.test(options.depth)) {
    throw new TandemError("usage", `--depth is ${JSON.stringify(options.depth)}.`, { fix: "Give a number of joins." });
  }
  const wanted = { depth: Number(options.depth), limit: toCount("--limit", options.limit) };
  const found = await withKnowledge(invocation, "tandem context", ({ catalogue }) =>
    tableGraph(catalogue, { ...wanted, table: name, connection: options.connection }),
  );
  await writeResult(invocation, found, options.mermaid ? asMermaid(found) : describeGraph(invocation, found));
}

function describeGraph({ stdout }: Invocation, { nodes, edges, truncated }: TableGraph): string[] {
  const { bold, dim, warn } = styleFor(stdout);
  if (nodes.length === 0) return [dim("No tables yet. Read them with `tandem context scan`.")];
  const rows = edges.map(({ from, to, columns, toColumns, cardinality, confidence }) => [
    bold(printable(`${from} (${columns.join(", ")})`)),
    "→",
    bold(printable(`${to} (${toColumns.join(", ")})`)),
    cardinality,
    dim(confidence.toFixed(2)),
  ]);
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const alone = nodes.filter(({ id }) => !joined.has(id)).map(({ id }) => printable(id));
  return [
    ...table(rows),
    ...(alone.length > 0 ? [dim(`Without joins: ${alone.join(", ")}`)] : []),
    ...(truncated ? [warn(`Only the first ${nodes.length} tables are shown.`)] : []),
  ];
}

function asMermaid({ nodes, edges }: TableGraph): string[] {
  const names = new Map(nodes.map(({ id, schema, table: name }) => [id, JSON.stringify(`${schema}.${name}`)]));
  return [
    "erDiagram",
    ...[...names.values()].map((name) => `  ${name}`),
    ...edges.map(({ from, to, columns, cardinality }) => {
      const ends = cardinality === "one-to-one" ? "||--||" : "}o--||";
      return `  ${names.get(from)} ${ends} ${names.get(to)} : ${JSON.stringify(columns.join(", "))}`;
    }),
  ];
}

/** Counts the content. Unreadable files make the command fail, so that a user notices them. */
export async function status(invocation: Invocation): Promise<number> {
  const report = await withKnowledge(invocation, "tandem context", async (knowledge) => {
    const { context: opened, connections, sources, jobs, metrics } = knowledge;
    const [paths, { problems }] = [await opened.folder.list(), await opened.search.sync()];
    const count = (prefix: string) => paths.filter((path) => path.startsWith(prefix)).length;
    const open = await opened.proposals.list({ states: ["open"], limit: 500 });
    const running = await jobs.list({ space: opened.id, states: ["queued", "running"], limit: 100 });
    return {
      id: opened.id,
      folder: opened.folder.path,
      tables: count("catalogue/"),
      pages: count("wiki/"),
      memories: count("memory/"),
      metrics: (await metrics.list()).length,
      connections: connections.map((each) => ({ ...each, tables: count(`catalogue/${each.name}/`) })),
      sources: [...sources],
      openProposals: open.length,
      unfinishedJobs: running.data.map(({ id, kind, state }) => ({ id, kind, state })),
      problems: [...problems],
    };
  });
  const { dim, bad, warn } = styleFor(invocation.stdout);
  const { connections, sources, unfinishedJobs, problems } = report;
  const rows = [
    [dim("folder"), printable(report.folder)],
    [
      dim("known"),
      `${report.tables} tables, ${report.metrics} metrics, ${report.pages} pages, ${report.memories} memories`,
    ],
    ...connections.map(({ name, driver, tables }, i) => [
      i === 0 ? dim("databases") : "",
      `${name} (${driver}): ${tables === 0 ? warn("not scanned yet") : `${tables} tables`}`,
    ]),
    ...(sources.length > 0 ? [[dim("sources"), sources.map(({ name, type }) => `${name} (${type})`).join(", ")]] : []),
    [
      dim("open"),
      report.openProposals === 0 ? "no proposals" : `${report.openProposals} proposals: tandem context proposals list`,
    ],
    ...unfinishedJobs.map(({ id, kind, state }, i) => [i === 0 ? dim("jobs") : "", `${id} ${kind} ${state}`]),
    ...problems.map(({ path, message }, i) => [i === 0 ? bad("unreadable") : "", printable(`${path}: ${message}`)]),
  ];
  await writeResult(invocation, report, table(rows));
  return report.problems.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}
