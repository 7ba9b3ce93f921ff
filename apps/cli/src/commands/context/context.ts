import { type SearchKind, tableGraph, type TableGraph } from "@tandem/context";
import { RequestError, TandemError } from "@tandem/protocol";
import type { OpenedContext } from "@tandem/tandem/context";
import type { Invocation } from "../../invocation.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import { askTool, withKnowledge } from "../../with-knowledge.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, widthOf, wrap, write } from "../../terminal.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";
import { SEARCH_KIND_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("search", "Find tables, columns, sampled values, pages and memories.")
      .argument("<words...>", "what to look for, in any language")
      .addOption(
        new Option("--kind <kind>", "only these; may be given more than once")
          .choices(SEARCH_KIND_CHOICES)
          .argParser((kind: string, all: string[] | undefined) => {
            if (SEARCH_KIND_CHOICES.includes(kind)) return [...(all ?? []), kind];
            throw new InvalidArgumentError(`Allowed choices are ${SEARCH_KIND_CHOICES.join(", ")}.`);
          }),
      )
      .option("--connection <name>", "only tables of this connection")
      .option("--limit <number>", "at most so many", "10")
      .addOption(json())
      .action((words: string[], options: SearchOptions, self: Command) =>
        runner(self, (given) => search(given, words, options)),
      ),
    "tandem context search refund policy",
    "tandem context search Zürich --kind value",
  );
  examples(
    sub("show", "Print a page, a memory, or all that is known of a table.")
      .argument("<what>", "a key that `search` has found, or a table's name")
      .addOption(json())
      .action((what: string, _options: object, self: Command) => runner(self, (given) => show(given, what))),
    "tandem context show orders",
    "tandem context show page:refund-policy",
  );
  examples(
    sub("graph", "Show which tables join, around one or all of them.")
      .argument("[table]", "where to begin (default: all tables)")
      .option("--connection <name>", "only tables of this connection")
      .option("--depth <number>", "so many joins away", "1")
      .option("--limit <number>", "at most so many tables", "100")
      .option("--mermaid", "print a Mermaid diagram")
      .addOption(json())
      .action((table: string | undefined, options: GraphOptions, self: Command) =>
        runner(self, (given) => graph(given, table, options)),
      ),
    "tandem context graph orders --depth 2",
    "tandem context graph --mermaid > joins.mmd",
  );
  examples(
    sub("status", "Show what there is: counts, databases, sources, open proposals, unreadable files.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, (given) => status(given))),
    "tandem context status",
  );
}

export interface SearchOptions {
  kind?: SearchKind[];
  connection?: string;
  limit: string;
}

interface Hit {
  key: string;
  kind: string;
  title: string;
  snippet: string;
}

export async function search(invocation: Invocation, words: string[], options: SearchOptions): Promise<number> {
  const { kind: kinds, connection } = options;
  const input = { query: words.join(" "), kinds, connection, limit: Math.min(50, toCount("--limit", options.limit)) };
  const { structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    askTool(invocation, knowledge, "context_search", input),
  );
  const { hits, degraded } = structured as { hits: Hit[]; degraded?: string };
  if (invocation.json) await writeJson(invocation, { hits, ...(degraded !== undefined && { degraded }) });
  else await write(invocation.stdout, `${describeHits(invocation, hits).join("\n")}\n`);
  if (degraded !== undefined) {
    await write(
      invocation.stderr,
      `${styleFor(invocation.stderr).warn("Looked for by words alone:")} ${printable(degraded)}\n`,
    );
  }
  return hits.length > 0 ? EXIT_CODES.ok.code : EXIT_CODES.failure.code;
}

function describeHits({ stdout }: Invocation, hits: readonly Hit[]): string[] {
  const { bold, dim, accent } = styleFor(stdout);
  if (hits.length === 0) return [dim("Nothing was found.")];
  const width = Math.min(widthOf(stdout), 200);
  return hits.flatMap(({ key, title, snippet }) => {
    const [line = ""] = wrap(printable(snippet).replaceAll(/\s+/g, " ").trim(), width - 2);
    return [`${accent(printable(key))}  ${bold(printable(title))}`, ...(line === "" ? [] : [`  ${dim(line)}`])];
  });
}

/** Shows a page or memory by key, or a table by name. */
export async function show(invocation: Invocation, what: string): Promise<void> {
  const { markdown, structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    find(invocation, knowledge, what),
  );
  if (invocation.json) await writeJson(invocation, structured);
  else await write(invocation.stdout, `${printable(markdown).trimEnd()}\n`);
}

async function find(invocation: Invocation, knowledge: OpenedContext, what: string) {
  const page = () => askTool(invocation, knowledge, "page_read", { key: what });
  if (/^(page|memory):/.test(what)) return page();
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
  if (invocation.json) await writeJson(invocation, found);
  else {
    const lines = options.mermaid ? asMermaid(found) : describeGraph(invocation, found);
    await write(invocation.stdout, `${lines.join("\n")}\n`);
  }
}

function describeGraph({ stdout }: Invocation, { nodes, edges, truncated }: TableGraph): string[] {
  const { bold, dim, warn } = styleFor(stdout);
  if (nodes.length === 0) return [dim("No tables are known. `tandem scan` reads them.")];
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
    ...(truncated ? [warn(`There are more: only ${nodes.length} tables are shown.`)] : []),
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
    const { context: opened, connections, sources, jobs } = knowledge;
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
      connections: connections.map((each) => ({ ...each, tables: count(`catalogue/${each.name}/`) })),
      sources: [...sources],
      openProposals: open.length,
      unfinishedJobs: running.data.map(({ id, kind, state }) => ({ id, kind, state })),
      problems: [...problems],
    };
  });
  if (invocation.json) await writeJson(invocation, report);
  else {
    const { dim, bad, warn } = styleFor(invocation.stdout);
    const { connections, sources, unfinishedJobs, problems } = report;
    const rows = [
      [dim("folder"), printable(report.folder)],
      [dim("known"), `${report.tables} tables, ${report.pages} pages, ${report.memories} memories`],
      ...connections.map(({ name, driver, tables }, i) => [
        i === 0 ? dim("databases") : "",
        `${name} (${driver}): ${tables === 0 ? warn("not scanned yet") : `${tables} tables`}`,
      ]),
      ...(sources.length > 0
        ? [[dim("sources"), sources.map(({ name, type }) => `${name} (${type})`).join(", ")]]
        : []),
      [
        dim("open"),
        report.openProposals === 0 ? "no proposals" : `${report.openProposals} proposals: tandem proposals list`,
      ],
      ...unfinishedJobs.map(({ id, kind, state }, i) => [i === 0 ? dim("jobs") : "", `${id} ${kind} ${state}`]),
      ...problems.map(({ path, message }, i) => [i === 0 ? bad("unreadable") : "", printable(`${path}: ${message}`)]),
    ];
    await write(invocation.stdout, `${table(rows).join("\n")}\n`);
  }
  return report.problems.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

const writeJson = ({ stdout }: Invocation, value: unknown): Promise<void> =>
  write(stdout, `${JSON.stringify(value, null, 2)}\n`);
