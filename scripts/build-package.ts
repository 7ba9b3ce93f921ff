// Builds the npm package (dist/): the command as a few JavaScript modules, with the page and its data files.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { z } from "zod";
import { buildPage } from "./build-page.ts";

const root = join(import.meta.dirname, "..");
const cli = join(root, "apps", "cli");
/**
 * Libraries that are bundled: they have hundreds of small modules, or are needed at every start. All others are installed as
 * dependencies.
 */
const TAKEN_IN = new Set([
  "@agentclientprotocol/sdk",
  "@hono/node-server",
  "@modelcontextprotocol/sdk",
  "commander",
  "hono",
  "yaml",
  "zod",
]);

const manifest = z.looseObject({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});
const read = (file: string) => manifest.parse(JSON.parse(readFileSync(file, "utf8")));

/** Replaces the contents of `folder`. */
export async function buildPackage(folder: string = join(root, "dist")): Promise<void> {
  buildPage();
  rmSync(folder, { recursive: true, force: true });
  const lib = join(folder, "lib");
  mkdirSync(lib, { recursive: true });
  const { installed, optional } = dependencies();
  const needed = new Set<string>();
  const bundle = await rolldown({
    input: { main: join(cli, "src", "main.ts") },
    platform: "node",
    external: (id) => {
      const name = packageOf(id);
      const isBeside = installed[name] !== undefined || optional[name] !== undefined;
      if (isBeside) needed.add(name);
      return isBeside;
    },
    plugins: [besideModules(lib)],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await bundle.write({ dir: lib, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  cpSync(join(cli, "bin"), join(folder, "bin"), { recursive: true });
  const start = join(folder, "bin", "tandem.mjs");
  writeFileSync(start, readFileSync(start, "utf8").replace("../src/main.ts", "../lib/main.mjs"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify(packageManifest(needed, { installed, optional }), null, 2)}\n`,
  );
}

const packageOf = (id: string): string =>
  id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");

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

/** The dependencies of all packages with their versions, without the bundled ones. */
function dependencies(): { installed: Record<string, string>; optional: Record<string, string> } {
  const files = globSync(["packages/*/package.json", "apps/cli/package.json"], { cwd: root });
  const rooms = files.map((file) => read(join(root, file)));
  const all = rooms.flatMap((room) => Object.entries(room.dependencies));
  return {
    installed: Object.fromEntries(all.filter(([name]) => !name.startsWith("@tandem/") && !TAKEN_IN.has(name))),
    optional: Object.fromEntries(rooms.flatMap((room) => Object.entries(room.peerDependencies))),
  };
}

function packageManifest(
  needed: ReadonlySet<string>,
  { installed, optional }: ReturnType<typeof dependencies>,
): object {
  const { name, version, license, type, bin } = read(join(cli, "package.json"));
  const { devDependencies } = read(join(root, "package.json"));
  const names = [...needed].filter((each) => installed[each] !== undefined).sort();
  return {
    name,
    version,
    license,
    type,
    bin,
    engines: { node: ">=20" },
    files: ["bin", "lib"],
    dependencies: {
      ...Object.fromEntries(names.map((each) => [each, installed[each]])),
      // For machines with an older Node.
      node: devDependencies["node"],
    },
    peerDependencies: optional,
    peerDependenciesMeta: Object.fromEntries(Object.keys(optional).map((each) => [each, { optional: true }])),
  };
}

if (import.meta.main) {
  await buildPackage();
  console.log("The package is in dist/.");
}
