import type { Dialect } from "./dialect.ts";

/** Search tables for both engines. Tandem computes `terms` itself, so both engines index the same words. */
export function searchSchema({ name, id, int, bytes, number, strict }: Dialect): string[] {
  return [
    // Holders of vector copies compare `version` (grows with every vector change) and `removed` (grows with deletions).
    // Numbers are never reused, because copies are identified by them.
    `create table search_space (
      number ${name === "sqlite" ? "integer primary key autoincrement" : number},
      name ${id} not null unique,
      version ${int} not null,
      removed ${int} not null
    ) ${strict}`,
    `create table search_document (
      number ${number},
      space ${int} not null,
      key ${id} not null,
      kind ${id} not null,
      hash text not null,
      facts text not null,
      title text not null,
      body text not null,
      vector_model text
    ) ${strict}`,
    "create unique index search_document_key on search_document (space, key)",
    `create table search_vector (
      document ${int} primary key,
      space ${int} not null,
      model ${id} not null,
      version ${int} not null,
      vector ${bytes} not null
    ) ${strict}`,
    "create index search_vector_version on search_vector (space, model, version, document)",
    ...(name === "sqlite"
      ? [
          // Contentless: the text is stored once, in the documents. Prefix indexes cover two and three letters of a
          // word, plus the two characters before each term.
          `create virtual table search_terms using fts5 (facts, title, body, content = '', contentless_delete = 1,
            tokenize = 'ascii', prefix = '4 5')`,
        ]
      : [
          "create table search_terms (document bigint primary key, terms tsvector not null)",
          // A small pending list: every search scans it linearly.
          "create index search_terms_index on search_terms using gin (terms) with (gin_pending_list_limit = 512)",
        ]),
  ];
}
