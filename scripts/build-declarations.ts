// Writes the TypeScript declarations of the published packages: those that the entry points reach, with relative
// imports. An import of another library than zod fails the build, because the user may not have it.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isolatedDeclarationSync } from "rolldown/experimental";
import { z } from "zod";
import { entryName, type PublishedPackage } from "./published-packages.ts";

const root = join(import.meta.dirname, "..");
const emitted = join(root, "node_modules", ".cache", "tandem", "declarations");
const workspace = z.object({ name: z.string(), exports: z.record(z.string(), z.string()).default({}) });
/** Users of the runtime pass zod schemas. `node:` modules need @types/node. */
const isAllowed = (library: string): boolean => library === "zod" || library.startsWith("node:");

/** Writes `types/NAME.d.ts` for each entry point of each package. `folders` are in the order of `packages`. */
export function buildDeclarations(packages: readonly PublishedPackage[], folders: readonly string[]): void {
  rmSync(emitted, { recursive: true, force: true });
  const declarations = readDeclarations(packages.flatMap(({ exports }) => Object.values(exports)));
  packages.forEach(({ exports }, i) => {
    const types = join(folders[i]!, "types");
    const placeOf = (source: string): string => join(types, relative(root, source).replace(/\.ts$/, ".d.ts"));
    const linkTo = (from: string, source: string): string => {
      const path = relative(dirname(from), placeOf(source)).replace(/\.d\.ts$/, ".js");
      return path.startsWith(".") ? path : `./${path}`;
    };
    const copied = new Set(Object.values(exports));
    for (const source of copied) {
      const { text, imports } = declarations.get(source)!;
      for (const each of imports) copied.add(each);
      const place = placeOf(source);
      mkdirSync(dirname(place), { recursive: true });
      const linked = imports.reduce((all, each) => all.replaceAll(`"${each}"`, `"${linkTo(place, each)}"`), text);
      writeFileSync(place, linked);
    }
    for (const [path, source] of Object.entries(exports)) {
      const entry = join(types, `${entryName(path)}.d.ts`);
      writeFileSync(entry, `export * from "${linkTo(entry, source)}";\n`);
    }
  });
}

interface Declaration {
  /** Imports of our own sources are absolute paths. */
  text: string;
  imports: string[];
}

/** The declarations of `entries` and of all sources that they import, by source. */
function readDeclarations(entries: readonly string[]): Map<string, Declaration> {
  const indexes = workspaceIndexes();
  const declarations = new Map<string, Declaration>();
  const sources = new Set(entries);
  for (let inferred = new Set<string>(); ; inferred = new Set()) {
    for (const source of sources) {
      if (declarations.has(source)) continue;
      const text = declarationText(source);
      if (text === undefined) {
        inferred.add(source);
        continue;
      }
      const declaration = resolveImports(text, source, indexes);
      declarations.set(source, declaration);
      for (const each of declaration.imports) sources.add(each);
    }
    if (inferred.size === 0) return declarations;
    emitInferred([...inferred], indexes);
  }
}

/** Undefined if the types must be inferred from other files, as those of zod schemas. */
function declarationText(source: string): string | undefined {
  const file = join(emitted, relative(root, source)).replace(/\.ts$/, ".d.ts");
  if (existsSync(file)) return readFileSync(file, "utf8");
  const { code, errors } = isolatedDeclarationSync(source, readFileSync(source, "utf8"), {});
  return errors.length === 0 ? code : undefined;
}

function emitInferred(files: readonly string[], indexes: ReadonlyMap<string, string>): void {
  mkdirSync(emitted, { recursive: true });
  const config = join(emitted, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm run check` checks the same files.
    noCheck: true,
    outDir: emitted,
    rootDir: root,
    typeRoots: [join(root, "node_modules", "@types")],
    // tsc emits nothing for a file that it finds through node_modules.
    paths: Object.fromEntries([...indexes].map(([name, file]) => [name, [file]])),
  };
  writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: [], files }));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", config], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The declarations could not be emitted:\n${stdout}`);
}

/** The index files of the workspaces by the name that others import. */
function workspaceIndexes(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync("packages/*/package.json", { cwd: root })) {
    const { name, exports } = workspace.parse(JSON.parse(readFileSync(join(root, file), "utf8")));
    for (const [path, source] of Object.entries(exports)) {
      found.set(join(name, path), join(root, dirname(file), source));
    }
  }
  return found;
}

/**
 * Imports each name of a workspace's index from the file that declares it. Otherwise one type would make all of a
 * workspace's declarations reachable, and with them the libraries that they use.
 */
function resolveImports(text: string, source: string, indexes: ReadonlyMap<string, string>): Declaration {
  const direct = text.replaceAll(
    /^(import|export) (type )?\{([^}]*)\} from "(@tandem\/[^"]+)";$/gm,
    (whole, verb: string, type: string | undefined, list: string, library: string) => {
      const index = indexes.get(library);
      if (!index) return whole;
      const lines = list.split(",").map((part) => {
        const item = part.trim();
        const [name = "", alias = name] = item.replace(/^type /, "").split(" as ");
        const origin = originsOf(index).get(name);
        if (!origin) throw new Error(`${library} exports no ${name}, which ${relative(root, source)} imports.`);
        const inner = origin.name === alias ? alias : `${origin.name} as ${alias}`;
        const isType = type !== undefined || item.startsWith("type ");
        const names = origin.name === "*" ? inner : `{ ${inner} }`;
        return `${verb} ${isType ? "type " : ""}${names} from "${origin.file}";`;
      });
      return lines.join("\n");
    },
  );
  const imports: Declaration["imports"] = [];
  const resolved = direct.replaceAll(/((?:\bfrom |\bimport\()")([^"]+)"/g, (whole, before: string, library: string) => {
    const found = library.startsWith(".") ? resolve(dirname(source), library) : (indexes.get(library) ?? library);
    if (isAllowed(found)) return whole;
    if (!found.startsWith(root)) {
      throw new Error(`The public types use ${found}, in ${relative(root, source)}. Hide it behind a type of ours.`);
    }
    imports.push(found);
    return `${before}${found}"`;
  });
  return { text: resolved, imports };
}

/** The declaring file of each name that an index exports; the name there is `*` for a namespace. */
function originsOf(index: string): Map<string, { name: string; file: string }> {
  const origins = new Map<string, { name: string; file: string }>();
  for (const [, named, namespace, from = ""] of readFileSync(index, "utf8").matchAll(
    /^export (?:type )?(?:\{([^}]*)\}|(\* as \w+)) from "(\.[^"]+)";$/gm,
  )) {
    const list = named ?? namespace ?? "";
    for (const item of list.split(",").map((part) => part.trim().replace(/^type /, ""))) {
      const [name = "", alias = name] = item.split(" as ");
      if (alias) origins.set(alias, { name, file: resolve(dirname(index), from) });
    }
  }
  return origins;
}
