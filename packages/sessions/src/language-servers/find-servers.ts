import { constants } from "node:fs";
import { access, readFile, realpath } from "node:fs/promises";
import { delimiter, dirname, extname, isAbsolute, join } from "node:path";
import { parseJson } from "@tandem/protocol";
import { z } from "zod";
import type { ConfiguredServer } from "./lsp-settings.ts";
import { sourceFiles } from "./source-files.ts";

/** Number of entries of the folder that are read to detect its languages. */
const LOOKED_AT = 4_000;
/** The first version of TypeScript whose compiler is a language server. */
const NATIVE_TYPESCRIPT = 7;

/** A language server that can be started for a folder. */
export interface FoundServer {
  name: string;
  /** Absolute path. */
  command: string;
  args: readonly string[];
  /** The protocol's name of the language, by file extension. */
  languages: Readonly<Record<string, string>>;
  /** Answers to its questions for settings, by section. */
  settings: Readonly<Record<string, unknown>>;
  /** Sent when it starts. */
  options?: Readonly<Record<string, unknown>>;
}

interface SearchFolders {
  folder: string;
  /** Folders of programs: those of the folder itself first. */
  programs: readonly string[];
}

interface Builtin {
  name: string;
  languages: FoundServer["languages"];
  find(place: SearchFolders): Promise<Pick<FoundServer, "command" | "args" | "settings" | "options"> | undefined>;
}

const TYPESCRIPT: Builtin = {
  name: "typescript",
  languages: {
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescriptreact",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascriptreact",
  },
  async find({ folder, programs }) {
    const native = { args: ["--lsp", "--stdio"], settings: {} };
    const own = await nativeTypescript([binOf(folder)]);
    if (own !== undefined) return { command: own, ...native };
    const command = await findProgram(["typescript-language-server", "vtsls"], programs);
    // Types of packages that are not installed would be downloaded.
    const options = { disableAutomaticTypingAcquisition: true };
    if (command !== undefined) return { command, args: ["--stdio"], settings: {}, options };
    const installed = (await findProgram(["tsgo"], programs)) ?? (await nativeTypescript(programs));
    return installed === undefined ? undefined : { command: installed, ...native };
  },
};

const PYTHON: Builtin = {
  name: "python",
  languages: { ".py": "python", ".pyi": "python" },
  async find({ folder, programs }) {
    const environments = [".venv", "venv"].map((name) => join(folder, name, "bin"));
    const servers = ["pyright-langserver", "basedpyright-langserver"];
    const command = await findProgram(servers, [...environments, ...programs]);
    if (command === undefined) return undefined;
    const pythonPath = await findProgram(["python"], environments);
    return { command, args: ["--stdio"], settings: pythonPath === undefined ? {} : { python: { pythonPath } } };
  },
};

const BUILTIN = [TYPESCRIPT, PYTHON];

/**
 * The language servers for the files that a folder has: configured ones, and TypeScript and Python if a server is installed. Starts
 * nothing.
 */
export async function findServers(
  folder: string,
  { path, configured }: { path: string; configured: readonly ConfiguredServer[] },
): Promise<FoundServer[]> {
  const place = { folder, programs: [binOf(folder), ...path.split(delimiter).filter(isAbsolute)] };
  const builtin = BUILTIN.filter(({ name }) => !configured.some((server) => server.name === name));
  const candidates = [
    ...configured.map((server) => ({
      ...server,
      languages: languagesOf(server),
      find: () => findConfigured(server, place),
    })),
    ...builtin.map((server) => ({ ...server, find: () => server.find(place) })),
  ];
  // Programs first: that is a few files. Most folders have no program for most languages.
  const found = await Promise.all(
    candidates.map(async ({ name, languages, find }) => {
      const program = await find();
      return program ? [{ name, languages, ...program }] : [];
    }),
  );
  return withFiles(folder, found.flat());
}

/** Those of these servers for which the folder has a file. Stops as soon as that is known. */
async function withFiles(folder: string, servers: readonly FoundServer[]): Promise<FoundServer[]> {
  const missing = new Set(servers);
  if (missing.size === 0) return [];
  for await (const path of sourceFiles(folder, LOOKED_AT)) {
    for (const server of missing) if (Object.hasOwn(server.languages, extname(path))) missing.delete(server);
    if (missing.size === 0) break;
  }
  return servers.filter((server) => !missing.has(server));
}

/** The first server for a file. */
export const serverFor = (servers: readonly FoundServer[], path: string): FoundServer | undefined =>
  servers.find(({ languages }) => Object.hasOwn(languages, extname(path)));

const binOf = (folder: string): string => join(folder, "node_modules", ".bin");

const languagesOf = ({ extensions, languageId }: ConfiguredServer): FoundServer["languages"] =>
  Object.fromEntries(extensions.map((extension) => [extension, languageId]));

async function findConfigured({ command: [program = "", ...args] }: ConfiguredServer, { programs }: SearchFolders) {
  const command = isAbsolute(program) ? program : await findProgram([program], programs);
  return command === undefined || !(await isProgram(command)) ? undefined : { command, args, settings: {} };
}

async function findProgram(names: readonly string[], folders: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of folders) if (await isProgram(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const manifest = z.object({ name: z.literal("typescript"), version: z.string() });

/** `tsc`, if it is a compiler that is a language server, too. */
async function nativeTypescript(folders: readonly string[]): Promise<string | undefined> {
  const command = await findProgram(["tsc"], folders);
  const real = command && (await realpath(command).catch(() => undefined));
  if (!real) return undefined;
  const text = await readFile(join(dirname(dirname(real)), "package.json"), "utf8").catch(() => "{}");
  const { data } = z.string().transform(parseJson).pipe(manifest).safeParse(text);
  return data && Number.parseInt(data.version, 10) >= NATIVE_TYPESCRIPT ? command : undefined;
}
