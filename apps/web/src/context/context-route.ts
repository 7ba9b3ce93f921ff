/** The path of a context key after `/context/`. Undefined for keys without a page. */
export function pathOfKey(key: string): string | undefined {
  const [kind, name] = splitOnce(key, ":");
  switch (kind) {
    case "page":
      return `wiki/${name}`;
    case "memory":
      return `memory/${name}`;
    case "table":
      return `tables/${name}`;
    case "column":
    case "value":
      // The column is the last part. A column name with a dot still leads to the table.
      return `tables/${name.replace(/\.[^.]*$/, "")}`;
    case "metric":
      return `metrics/${name}`;
    case "chunk":
      return `passages/${name}`;
    default:
      return undefined;
  }
}

export const SECTIONS = [
  "search",
  "wiki",
  "tables",
  "metrics",
  "sql",
  "proposals",
  "memory",
  "jobs",
  "sources",
] as const;
export type Section = (typeof SECTIONS)[number];

/** A section's own page, or one that belongs to it: passages to the wiki, the graph to the tables. */
export type ContextView = Section | "passages" | "graph";

/** Parses the path into section and view. */
export function readPath(splat: string): { section: Section; view: ContextView; rest: string } | undefined {
  const [view, rest] = splitOnce(splat.replace(/\/+$/, ""), "/");
  if (view === "") return { section: "search", view: "search", rest: "" };
  if (view === "passages") return { section: "wiki", view, rest };
  if (view === "graph") return { section: "tables", view, rest };
  const section = SECTIONS.find((name) => name === view);
  return section && { section, view: section, rest };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
