/** What a search needs, for either engine. `terms` are made by us, in one way for both; an index only keeps them. */
export function searchSchema({
  name,
  id,
  int,
  bytes,
  number,
  strict,
}: {
  name: "sqlite" | "postgres";
  id: string;
  int: string;
  bytes: string;
  number: string;
  strict: string;
}): string[] {
  return [
    // `version` grows with every change of vectors, `removed` with those that are gone: both are for those who hold copies.
    // A number is never used again: copies are known by it.
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
          // The text is kept once, in the documents. Two to three letters of a word are a common prefix to look for; a term has
          // two signs before them.
          `create virtual table search_terms using fts5 (facts, title, body, content = '', contentless_delete = 1,
            tokenize = 'ascii', prefix = '4 5')`,
        ]
      : [
          "create table search_terms (document bigint primary key, terms tsvector not null)",
          // What waits to be sorted in is read through by every search.
          "create index search_terms_index on search_terms using gin (terms) with (gin_pending_list_limit = 512)",
        ]),
  ];
}
