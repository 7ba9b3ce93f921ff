import { extname, isAbsolute, join, relative, resolve } from "node:path";
import type { HostServer, HostTool } from "@tandem/claude-code";
import { RequestError, TandemError } from "@tandem/protocol";
import { z } from "zod";
import { serverFor, type FoundServer } from "./find-servers.ts";
import type { LanguageServer } from "./language-server.ts";
import { documentSymbols, hover, locations, workspaceSymbols, type Position } from "./lsp-shapes.ts";
import { FoundLines } from "./found-lines.ts";
import type { Limit } from "./open-documents.ts";
import { sourceFiles } from "./source-files.ts";

export const LSP_SERVER = "lsp";

interface LspAround {
  folder: string;
  timeoutMs: number;
  /** Starts the server if it does not run. */
  use<T>(server: FoundServer, work: (running: LanguageServer) => Promise<T>): Promise<T>;
  /** Whether rules let the session read a file. */
  mayShow(): Promise<(path: string) => boolean>;
}

const file = z.string().min(1).describe("Path of the file, absolute or relative to the working folder.");
const place = z.object({
  path: file,
  line: z.int().min(1).describe("Line, counted from 1."),
  column: z.int().min(1).optional().describe("Column, counted from 1. Not needed with `symbol`."),
  symbol: z.string().min(1).optional().describe("The name on that line, instead of `column`."),
});
const oneFile = z.object({ path: file });
const symbolQuery = z.object({
  path: file.optional(),
  query: z.string().optional().describe("Part of the name, to search the whole folder. Without `path`."),
});

/** The tools that ask language servers. They only read. */
export function lspServer(servers: readonly FoundServer[], around: LspAround): HostServer {
  const { folder, timeoutMs } = around;
  const languages = servers.map(({ name, languages: known }) => `${name} (${Object.keys(known).join(" ")})`).join(", ");
  const tool = <T extends z.ZodType>(
    name: string,
    description: string,
    input: T,
    run: (input: z.output<T>, limit: Limit) => Promise<string>,
  ): HostTool => ({
    name,
    description: `${description} Language servers: ${languages}.`,
    inputSchema: z.toJSONSchema(input, { target: "draft-7" }),
    readOnly: true,
    readsPath: "path",
    run: async (given, signal) => {
      try {
        const read = input.safeParse(given);
        if (!read.success) return { text: z.prettifyError(read.error), isError: true };
        return { text: await run(read.data, { ms: timeoutMs, signal }), isError: false };
      } catch (error) {
        return { text: describeError(error), isError: true };
      }
    },
  });
  const linesOf = async (): Promise<FoundLines> => new FoundLines(folder, await around.mayShow());
  const atFile = async <T>(
    path: string,
    work: (server: LanguageServer, absolute: string) => Promise<T>,
  ): Promise<T> => {
    const absolute = pathInside(folder, path);
    const found = serverFor(servers, absolute);
    if (!found) throw unsupported(absolute, languages);
    return around.use(found, (server) => work(server, absolute));
  };
  const atPlace =
    <T extends z.ZodType>(method: string, shape: T, params: object = {}) =>
    (at: z.output<typeof place>, limit: Limit): Promise<z.output<T>> =>
      atFile(at.path, async (server, absolute) => {
        const { uri, text } = await server.documents.ask(absolute);
        const asked = { textDocument: { uri }, position: positionIn(text, at), ...params };
        return server.request(method, asked, shape, limit);
      });
  const definition = atPlace("textDocument/definition", locations);
  const references = atPlace("textDocument/references", locations, { context: { includeDeclaration: true } });
  const describe = atPlace("textDocument/hover", hover);
  return {
    name: LSP_SERVER,
    timeoutMs: timeoutMs + 60_000,
    tools: [
      tool(
        "diagnostics",
        "Errors and warnings of a file, as the compiler sees it now.",
        oneFile,
        async ({ path }, limit) => {
          const found = await atFile(path, async ({ documents }, absolute) => {
            const document = await documents.ask(absolute);
            return { absolute, items: await documents.diagnose(document, limit) };
          });
          return (await linesOf()).diagnostics(found.absolute, found.items);
        },
      ),
      tool("definition", "Where a name is defined.", place, async (at, limit) => {
        const found = await definition(at, limit);
        return (await linesOf()).locations(found, "No definition was found.");
      }),
      tool("references", "Every use of a name in the project, with its definition.", place, async (at, limit) => {
        const found = await references(at, limit);
        return (await linesOf()).locations(found, "No references were found.");
      }),
      tool("hover", "The type and documentation of a name.", place, async (at, limit) => {
        const text = await describe(at, limit);
        return text === "" ? "The language server has no information about this place." : text.slice(0, MAX_HOVER);
      }),
      tool(
        "symbols",
        "The outline of a file (`path`), or a search for names in the folder (`query`).",
        symbolQuery,
        async ({ path, query }, limit) => {
          if (path === undefined) {
            if (!query) throw new RequestError("invalid_request", "`path` or `query` is missing.");
            const found = await Promise.allSettled(servers.map((each) => searchSymbols(each, query, limit)));
            const answered = found.filter((each) => each.status === "fulfilled");
            const failed = found.find((each) => each.status === "rejected");
            if (answered.length === 0 && failed) throw failed.reason;
            return (await linesOf()).symbols(answered.flatMap(({ value }) => value));
          }
          const found = await atFile(path, async (server, absolute) => {
            const { uri } = await server.documents.ask(absolute);
            const symbols = await server.request(
              "textDocument/documentSymbol",
              { textDocument: { uri } },
              documentSymbols,
              limit,
            );
            return { absolute, symbols };
          });
          return (await linesOf()).outline(found.absolute, found.symbols);
        },
      ),
    ],
  };

  function searchSymbols(found: FoundServer, query: string, limit: Limit) {
    return around.use(found, async (server) => {
      // Some servers know no project before a file of it is open.
      const first = server.documents.isEmpty ? await firstFile(folder, found) : undefined;
      if (first !== undefined) await server.documents.ask(first);
      else await server.documents.catchUp();
      return server.request("workspace/symbol", { query }, workspaceSymbols, limit);
    });
  }
}

const LOOKED_AT = 4_000;

async function firstFile(folder: string, { languages }: FoundServer): Promise<string | undefined> {
  for await (const path of sourceFiles(folder, LOOKED_AT)) if (Object.hasOwn(languages, extname(path))) return path;
  return undefined;
}

/** Links are checked when the file is opened. */
function pathInside(folder: string, path: string): string {
  const inner = relative(folder, isAbsolute(path) ? resolve(path) : join(folder, path));
  if (inner === "" || inner === ".." || inner.startsWith("../") || isAbsolute(inner)) {
    throw new RequestError("forbidden", `${JSON.stringify(path)} is not a file of the session's folder.`);
  }
  return join(folder, inner);
}

function positionIn(text: string, { line, column, symbol }: z.output<typeof place>): Position {
  const lines = text.split("\n");
  const content = lines[line - 1];
  if (content === undefined) throw new RequestError("invalid_request", `The file has ${lines.length} lines.`);
  if (symbol !== undefined) {
    const character = content.indexOf(symbol);
    if (character >= 0) return { line: line - 1, character };
    throw new RequestError("invalid_request", `Line ${line} does not contain ${symbol}: ${content.trim()}`);
  }
  if (column === undefined) throw new RequestError("invalid_request", "`column` or `symbol` is missing.");
  return { line: line - 1, character: Math.min(column - 1, content.length) };
}

const MAX_HOVER = 10_000;

const unsupported = (path: string, languages: string): RequestError =>
  new RequestError(
    "not_supported",
    `No language server is installed for ${extname(path) || "files without an extension"}.`,
    {
      fix: `Language servers of this session: ${languages}.`,
    },
  );

function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof TandemError && error.fix ? `${message} ${error.fix}` : message;
}
