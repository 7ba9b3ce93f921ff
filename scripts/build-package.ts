// Builds the npm packages (dist/): the command with the server, its page, docs and data files, and the libraries.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { z } from "zod";
import { buildDeclarations } from "./build-declarations.ts";
import { buildPage } from "./build-page.ts";
import { buildDocs } from "./docs-site/build-docs.ts";
import { entryName, LIBRARY_PACKAGES, type PublishedPackage, SERVER_PACKAGE } from "./published-packages.ts";
import { startChunks } from "./start-chunks.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";

const root = join(import.meta.dirname, "..");

/**
 * Libraries that cannot be bundled: they load native code or WebAssembly from beside their own files. All others are
 * bundled, which makes the install smaller and the start faster.
 */
const INSTALLED = new Set(["@anthropic-ai/claude-agent-sdk", "@polyglot-sql/sdk", "libpg-query"]);
/** Large libraries that few users need. An error names the one that is missing and how to install it. */
const OPTIONAL = new Set(["@duckdb/node-api", "@huggingface/tokenizers", "onnxruntime-node"]);

const manifest = z.looseObject({
  dependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});
const read = (file: string) => manifest.parse(JSON.parse(readFileSync(file, "utf8")));

/** Builds all packages with their declarations, each in a folder of its name. */
export async function buildPackages(dist: string = join(root, "dist")): Promise<void> {
  rmSync(dist, { recursive: true, force: true });
  const packages = [SERVER_PACKAGE, ...LIBRARY_PACKAGES];
  for (const each of packages) await buildPackage(join(dist, each.name), each);
  buildDeclarations(
    packages,
    packages.map(({ name }) => join(dist, name)),
  );
}

/** Replaces the contents of `folder`. Without declarations, which programs do not need to run. */
export async function buildPackage(folder: string, published: PublishedPackage = SERVER_PACKAGE): Promise<void> {
  const isCommand = published === SERVER_PACKAGE;
  if (isCommand) {
    buildPage();
    buildDocs();
  }
  rmSync(folder, { recursive: true, force: true });
  const lib = join(folder, "lib");
  mkdirSync(lib, { recursive: true });
  const entries = Object.entries(published.exports).map(([path, file]) => [entryName(path), file]);
  const input = Object.fromEntries(entries) as Record<string, string>;
  const needed = new Set<string>();
  let together: ReadonlyMap<string, string> = new Map();
  const bundle = await rolldown({
    input: isCommand ? { ...input, main: join(published.workspace, "src", "main.ts") } : input,
    platform: "node",
    // Needed for chunks of our own choice.
    preserveEntrySignatures: "allow-extension",
    // Its main file is UMD, whose inner requires cannot be bundled.
    resolve: { alias: { "jsonc-parser": join(root, "node_modules", "jsonc-parser", "lib", "esm", "main.js") } },
    external: (id) => {
      const name = packageOf(id);
      if (!INSTALLED.has(name) && !OPTIONAL.has(name)) return false;
      needed.add(name);
      return true;
    },
    plugins: [besideModules(lib), lazySchemas(), ...(isCommand ? [plainBuiltins()] : [])],
    onLog: (level, log) => {
      // The second pass would also warn of dynamic imports within a chunk of our choice.
      if (level === "warn" && together.size === 0 && !isExpected(log)) throw new Error(log.message);
    },
  });
  if (isCommand) together = startChunks(root, (await bundle.generate({})).output);
  const { output } = await bundle.write({
    dir: lib,
    codeSplitting: {
      groups: [{ debugName: "start", name: (id) => together.get(id) ?? null, includeDependenciesRecursively: false }],
    },
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    // V8 keeps the text of a loaded module: one character that is not ASCII doubles it.
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  });
  await bundle.close();
  const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.md"), thirdPartyNotices(modules, isCommand));
  if (isCommand) {
    cpSync(join(published.workspace, "bin"), join(folder, "bin"), { recursive: true });
    const start = join(folder, "bin", "tandem.mjs");
    writeFileSync(start, readFileSync(start, "utf8").replace("../src/main.ts", "../lib/main.mjs"));
  }
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  cpSync(join(root, "scripts", "package-readme", `${published.name}.md`), join(folder, "README.md"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(packageManifest(published, needed), null, 2)}\n`);
}

const packageOf = (id: string): string =>
  id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");

/** Libraries use `eval` and optional native parts; warnings about our own code fail the build. */
const isExpected = ({ id = "", ids = [] }: { id?: string; ids?: string[] }): boolean =>
  [id, ...ids].some((file) => file.includes(`${sep}node_modules${sep}`));

/**
 * Files that a module refers to by URL are placed beside the modules: threads and child processes as modules, others unchanged.
 */
function besideModules(lib: string): Plugin {
  return {
    name: "beside-modules",
    transform(code, id) {
      if (!id.endsWith(".ts") || id.includes(`${sep}node_modules${sep}`)) return null;
      return code.replaceAll(/new URL\("([^"]+)", import\.meta\.url\)/g, (_, path: string) => {
        const named = resolve(dirname(id), path);
        if (named.endsWith(".ts")) {
          return `new URL(import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: "chunk", id: named })})`;
        }
        const name = relative(root, named).replaceAll(sep, "-");
        cpSync(named, join(lib, name), { recursive: true });
        return `new URL("./${name}", import.meta.url)`;
      });
    },
  };
}

/** Our own modules build their zod schemas at the first use: the libraries keep zod as it is. */
function lazySchemas(): Plugin {
  const own = [join(root, "packages") + sep, join(root, "apps") + sep];
  return {
    name: "lazy-schemas",
    resolveId(id, importer = "") {
      const isOwn = own.some((folder) => importer.startsWith(folder)) && !importer.includes(`${sep}node_modules${sep}`);
      return id === "zod" && isOwn ? join(root, "scripts", "lazy-zod", "zod.ts") : null;
    },
  };
}

/**
 * An `import` of one of Node's modules reads all of its properties, and many are loaded when they are read: that of
 * `node:http` loads `fetch`, that of `node:process` opens the streams. These statements read only what the code uses.
 */
function plainBuiltins(): Plugin {
  const statement = /^import (?:([\w$]+)(?:, )?)?(?:\{([^}]*)\})? ?from "(node:[\w/]+)";$/gm;
  return {
    name: "plain-builtins",
    renderChunk: (code) =>
      code.replaceAll(statement, (_, whole: string | undefined, names: string | undefined, builtin: string) => {
        const found = `globalThis.process.getBuiltinModule("${builtin}")`;
        const fields = (names ?? "").split(",").map((name) => name.trim().replace(" as ", ": "));
        return [
          ...(whole === undefined ? [] : [`const ${whole} = ${found};`]),
          ...(names === undefined ? [] : [`const { ${fields.filter((name) => name !== "").join(", ")} } = ${found};`]),
        ].join("\n");
      }),
  };
}

/** The versions of all libraries that the workspaces declare. */
function libraryVersions(): Record<string, string> {
  const files = globSync(["packages/*/package.json", "apps/cli/package.json"], { cwd: root });
  const all = files.map((file) => read(join(root, file)));
  return Object.fromEntries(
    all.flatMap(({ dependencies, peerDependencies }) => Object.entries({ ...dependencies, ...peerDependencies })),
  );
}

function packageManifest(
  { name, description, workspace, exports }: PublishedPackage,
  needed: ReadonlySet<string>,
): object {
  const { version, license, type, bin } = read(join(workspace, "package.json"));
  const versions = libraryVersions();
  const pick = (names: ReadonlySet<string>) =>
    Object.fromEntries([...needed].filter((each) => names.has(each)).map((each) => [each, versions[each]]));
  const optional = name === SERVER_PACKAGE.name ? pickOptional(versions) : {};
  return {
    name,
    version,
    description,
    license,
    type,
    bin: bin === undefined ? undefined : { tandem: "bin/tandem", [name]: "bin/tandem" },
    // The command runs on Node 20 too: it then installs Node 24 for itself.
    engines: { node: bin === undefined ? ">=24" : ">=20" },
    files: ["bin", "lib", "types", "THIRD-PARTY-NOTICES.md"],
    exports: Object.fromEntries(
      Object.keys(exports).map((path) => [
        path,
        { types: `./types/${entryName(path)}.d.ts`, default: `./lib/${entryName(path)}.mjs` },
      ]),
    ),
    // The types name zod's; any zod 4 of the user's own serves.
    dependencies: { ...pick(INSTALLED), ...(name.endsWith("rehearsal") ? {} : { zod: "^4.0.0" }) },
    peerDependencies: optional,
    peerDependenciesMeta: Object.fromEntries(Object.keys(optional).map((each) => [each, { optional: true }])),
  };
}

const pickOptional = (versions: Record<string, string>) =>
  Object.fromEntries([...OPTIONAL].map((each) => [each, versions[each]]));

if (import.meta.main) {
  await buildPackages();
  console.log(`Built into dist/: ${[SERVER_PACKAGE, ...LIBRARY_PACKAGES].map(({ name }) => name).join(", ")}.`);
}
