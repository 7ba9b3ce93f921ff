/** Where something of the context is on the page: what follows `/context/`. Undefined for a key of another kind. */
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
      // The column is the last part; a name with a dot in it leads to the table all the same.
      return `tables/${name.replace(/\.[^.]*$/, "")}`;
    case "chunk":
      return `passages/${name}`;
    default:
      return undefined;
  }
}

export const SECTIONS = ["search", "wiki", "tables", "proposals", "memory", "jobs", "sources"] as const;
export type Section = (typeof SECTIONS)[number];

/** What is shown: a section, and what of it. Passages are read in the wiki, the graph belongs to the tables. */
export function readPath(splat: string): { section: Section; view: string; rest: string } | undefined {
  const [view, rest] = splitOnce(splat.replace(/\/+$/, ""), "/");
  if (view === "") return { section: "search", view: "search", rest: "" };
  if (view === "passages") return { section: "wiki", view, rest };
  if (view === "graph") return { section: "tables", view, rest };
  const section = SECTIONS.find((name) => name === view);
  return section && { section, view, rest };
}

/** The column of a key, where it has one. */
export const columnOfKey = (key: string): string | undefined =>
  /^(column|value):/.test(key) ? key.split(".").at(-1) : undefined;

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
