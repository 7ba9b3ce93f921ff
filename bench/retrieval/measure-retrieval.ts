import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ForeignKey, openConnection, type Table } from "@tandem/connectors";
import { CatalogueReader, type ContextTool, createContextTools, openContext, updateTableFile } from "@tandem/context";
import { configSchema } from "@tandem/protocol";
import { profileTables, type Relationship } from "@tandem/relationships";
import { openStore } from "@tandem/storage";
import { clinic } from "../relationships/schemas/held-out/clinic.ts";
import { writeSchema } from "../relationships/schemas/schema.ts";
import { rentals } from "../relationships/schemas/well-known/rentals.ts";
import { DESCRIPTIONS } from "./descriptions.ts";
import type { Question } from "./questions.ts";

/** `filler`: the same sentence for each table. `plain`: those of `descriptions.ts`. */
export type Described = "filler" | "plain";

export interface Retrieval {
  /** Share of the wanted tables among the first ten hits. */
  recall: number;
  /** Mean of 1 / rank of the first wanted table. */
  mrr: number;
  tables: number;
  wanted: number;
  missed: { question: string; tables: string[] }[];
}

const SHOWN = 10;
const DATA = new URL("../data/", import.meta.url).pathname;

/** Catalogues four databases without a model, and asks `context_search` as an agent does: over all of them. */
export async function measureRetrieval(questions: readonly Question[], described: Described): Promise<Retrieval> {
  const home = await mkdtemp(join(tmpdir(), "tandem-retrieval-"));
  try {
    const files: Record<string, string> = {
      chinook: join(DATA, "chinook.sqlite"),
      northwind: join(DATA, "northwind.sqlite"),
    };
    for (const schema of [rentals, clinic]) {
      files[schema.name] = join(home, `${schema.name}.sqlite`);
      writeSchema(schema, files[schema.name]!);
    }
    const drafts = (
      await Promise.all(Object.entries(files).map(([name, file]) => catalogue(name, file, described)))
    ).flat();
    await using store = await openStore(join(home, "tandem.db"));
    const { accept } = configSchema.parse({}).context;
    const { folder, search } = await openContext({ path: join(home, "context"), git: "own", accept, store });
    await folder.commit(
      drafts.map(({ path, after }) => ({ path, content: after!, expected: null })),
      { subject: "Four databases" },
    );
    const connections = { dialects: new Map(), open: () => Promise.reject(new Error("none")) };
    const tools = createContextTools({ folder, search, catalogue: new CatalogueReader(folder), connections });
    const tool = tools.find(({ name }) => name === "context_search")!;
    return await ask(tool, questions, drafts.length);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function catalogue(name: string, path: string, described: Described) {
  await using connection = await openConnection({ driver: "sqlite", path });
  const tables = await connection.structure();
  const { profiles } = await profileTables(connection, tables, { isForCatalogue: true });
  return tables.map((table) =>
    updateTableFile(
      {
        connection: name,
        table,
        profile: profiles.find((profile) => profile.name === table.name)!,
        joins: table.foreignKeys.map((key) => declared(table, key)),
        descriptions: { table: describe(name, table, described) },
        model: "bench",
      },
      null,
    ),
  );
}

const declared = ({ schema, name }: Table, { columns, to, toColumns }: ForeignKey): Relationship => ({
  from: { table: { schema, name }, columns },
  to: { table: to, columns: toColumns },
  origin: "declared",
  status: "accepted",
  confidence: 1,
  cardinality: "many-to-one",
  why: [],
});

const describe = (connection: string, { name, type }: Table, described: Described): string =>
  (described === "plain" ? DESCRIPTIONS[connection]?.[name] : undefined) ?? `One row of the ${type}.`;

async function ask(tool: ContextTool, questions: readonly Question[], tables: number): Promise<Retrieval> {
  const missed: Retrieval["missed"] = [];
  let [found, wanted, reciprocal] = [0, 0, 0];
  for (const { text, gold } of questions) {
    const caller = { signal: AbortSignal.timeout(60_000), by: "bench" };
    const { structured } = await tool.run({ query: text, limit: SHOWN }, caller);
    const { hits: groups, related = [] } = structured as {
      hits: { key: string; kind: string; title: string }[];
      related?: { key: string }[];
    };
    const joined = related.map(({ key }) => key.replace(/^table:/, "").replace("/main.", "/"));
    const hits = [...groups.map(tableOf), ...joined].slice(0, SHOWN);
    const ranks = gold.map((table) => hits.indexOf(table));
    wanted += gold.length;
    found += ranks.filter((rank) => rank >= 0).length;
    const first = Math.min(...ranks.map((rank) => (rank < 0 ? Infinity : rank + 1)));
    reciprocal += 1 / first;
    const lost = gold.filter((_, index) => ranks[index]! < 0);
    if (lost.length > 0) missed.push({ question: text, tables: lost });
  }
  return { recall: found / wanted, mrr: reciprocal / questions.length, tables, wanted, missed };
}

/** `connection/table` of a hit; every schema is SQLite's `main`. */
function tableOf({ key, kind, title }: { key: string; kind: string; title: string }): string {
  const [connection = ""] = key.slice(`${kind}:`.length).split("/", 1);
  if (kind === "table") return `${connection}/${title.replace(/^main\./, "")}`;
  return kind === "column" || kind === "value" ? `${connection}/${title.slice(0, title.lastIndexOf("."))}` : key;
}
