import type { BodyInput } from "@tandem/protocol";

export const SOURCE_KINDS = ["postgres", "mysql", "sqlite", "duckdb", "folder", "dbt"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export const KIND_LABELS: Readonly<Record<SourceKind, string>> = {
  postgres: "PostgreSQL",
  mysql: "MySQL or MariaDB",
  sqlite: "SQLite file",
  duckdb: "DuckDB file",
  folder: "Folder of documents",
  dbt: "dbt project",
};

/** An example that shows the form of the address or path. */
export const KIND_EXAMPLES: Readonly<Record<SourceKind, string>> = {
  postgres: "postgres://reader@db.example:5432/shop",
  mysql: "mysql://reader@db.example:3306/shop",
  sqlite: "data/shop.sqlite",
  duckdb: "data/shop.duckdb",
  folder: "docs",
  dbt: "../analytics",
};

export interface SourceForm {
  kind: SourceKind;
  name: string;
  /** The address of a server, or the path of a file or folder. */
  place: string;
  passwordPlace: "none" | "env" | "file";
  /** The variable or the file that holds the password. */
  passwordName: string;
  /** Separated by commas. */
  schemas: string;
}

export const EMPTY_FORM: SourceForm = {
  kind: "postgres",
  name: "",
  place: "",
  passwordPlace: "none",
  passwordName: "",
  schemas: "",
};

export const isDatabase = (kind: SourceKind): boolean => kind !== "folder" && kind !== "dbt";
export const isServer = (kind: SourceKind): boolean => kind === "postgres" || kind === "mysql";

const SCHEMES = { postgres: /^postgres(ql)?:\/\//, mysql: /^(mysql|mariadb):\/\// } as const;

/** The first problem of the address or path. The server checks it again. */
export function placeProblem({ kind, place }: SourceForm): string | undefined {
  const text = place.trim();
  if (text === "" || (kind !== "postgres" && kind !== "mysql")) return undefined;
  if (/^(env|file):/.test(text)) return undefined;
  if (/:\/\/[^/@]*:[^/@]*@/.test(text) || /[?&][^=&]*(pass|pwd|secret|token)[^=&]*=/i.test(text)) {
    return "Remove the password from the address. Store it in an environment variable or a file, and name that below.";
  }
  if (!SCHEMES[kind].test(text)) return `Expected an address such as ${KIND_EXAMPLES[kind]}, or env:NAME.`;
  return undefined;
}

export const nameProblem = (name: string): string | undefined =>
  name === "" || /^[a-z][a-z0-9_-]{0,39}$/.test(name)
    ? undefined
    : "Use lower-case letters, digits, - and _, and begin with a letter.";

export function passwordProblem({ passwordPlace, passwordName }: SourceForm): string | undefined {
  const name = passwordName.trim();
  if (passwordPlace !== "env" || name === "" || /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return undefined;
  return "Expected the name of a variable, such as SHOP_PASSWORD, not the password itself.";
}

/** A name from the address or path, as a proposal. */
export function suggestName({ place }: Pick<SourceForm, "place">): string {
  const last =
    place
      .trim()
      .replace(/[?#].*$/, "")
      .replace(/\/+$/, "")
      .split(/[/:]/)
      .at(-1) ?? "";
  return last
    .replace(/\.[a-z0-9]+$/i, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 40);
}

export function isComplete(form: SourceForm): boolean {
  const needsPassword = isServer(form.kind) && form.passwordPlace !== "none";
  return (
    form.place.trim() !== "" &&
    (!needsPassword || form.passwordName.trim() !== "") &&
    [placeProblem(form), passwordProblem(form)].every((problem) => problem === undefined)
  );
}

export function connectionBody(form: SourceForm): BodyInput<"context.connections.test"> {
  const { kind, passwordPlace } = form;
  const place = form.place.trim();
  if (kind === "sqlite" || kind === "duckdb")
    return { driver: kind, path: place.replace(/^(sqlite3?|duckdb):(\/\/)?/, "") };
  const schemas = form.schemas.split(",").flatMap((each) => (each.trim() === "" ? [] : [each.trim()]));
  return {
    driver: kind === "mysql" ? "mysql" : "postgres",
    url: place,
    ...(passwordPlace !== "none" && { password: `${passwordPlace}:${form.passwordName.trim()}` }),
    ...(schemas.length > 0 && { schemas }),
  };
}

export const sourceBody = ({ kind, place }: SourceForm): BodyInput<"context.sources.test"> => ({
  type: kind === "dbt" ? "dbt" : "folder",
  path: place.trim(),
});
