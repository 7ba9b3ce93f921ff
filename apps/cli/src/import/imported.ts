import type { AgentCreateParams, Rule } from "@tandem/protocol";

/** An MCP server in the format of `mcpServers` in tandem.yaml. */
export interface ImportedServer {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

/** Settings of another tool in our format, with the skipped parts and the reasons. */
export interface Imported {
  rules: Rule[];
  mcpServers: Record<string, ImportedServer>;
  agents: AgentCreateParams[];
  /** The default model. */
  model?: string;
  /** Slash command files, by name. */
  commands: Record<string, string>;
  skipped: { what: string; why: string }[];
  files: string[];
}

export const nothingImported = (): Imported => ({
  rules: [],
  mcpServers: {},
  agents: [],
  commands: {},
  skipped: [],
  files: [],
});

const NAME = /^[a-z][a-z0-9_-]{0,39}$/;

/** Adds a server if its name is valid and its secrets are references. */
export function addServer(into: Imported, name: string, server: ImportedServer): void {
  const known = name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, "-");
  if (!NAME.test(known)) {
    into.skipped.push({ what: `MCP server ${name}`, why: "its name is not valid here" });
    return;
  }
  const kept: ImportedServer = { ...server };
  for (const field of ["env", "headers"] as const) {
    const values = Object.entries(server[field] ?? {});
    const references = values.map(([key, value]) => [key, asReference(value)] as const);
    const literal = references.filter(([, reference]) => reference === undefined).map(([key]) => key);
    if (literal.length > 0) {
      into.skipped.push({
        what: `${literal.join(", ")} of the MCP server ${name}`,
        why: "it contains a literal secret: move it to a variable or a file, and write env:NAME or file:path",
      });
    }
    const usable = references.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
    if (usable.length > 0) kept[field] = Object.fromEntries(usable);
    else delete kept[field];
  }
  into.mcpServers[known] = kept;
}

/** `${NAME}` and `{env:NAME}` name a variable, `{file:path}` a file. Everything else may be a secret. */
function asReference(value: string): string | undefined {
  const [, braced, opencode, file] =
    /^(?:\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?|\{env:([A-Za-z_][A-Za-z0-9_]*)\}|\{file:([^}]+)\})$/.exec(value) ?? [];
  if (file !== undefined) return `file:${file}`;
  const variable = braced ?? opencode;
  return variable === undefined ? undefined : `env:${variable}`;
}
