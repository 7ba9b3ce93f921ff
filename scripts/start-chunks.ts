import { join } from "node:path";
import type { OutputAsset, OutputChunk } from "rolldown";

const ENGINE = [
  "packages/policy/src/index.ts",
  "packages/sessions/src/index.ts",
  "packages/storage/src/index.ts",
  "packages/storage/src/sqlite/sqlite-database.ts",
];

/** The modules that a command imports dynamically until it has work. Each brings those that it imports statically. */
const STARTS: Readonly<Record<string, readonly string[]>> = {
  main: ["apps/cli/src/main.ts"],
  run: ["apps/cli/src/commands/sessions/run.ts"],
  up: [
    "apps/cli/src/commands/server/up.ts",
    "packages/claude-code/src/processes/index.ts",
    "packages/server/src/index.ts",
    ...ENGINE,
  ],
  acp: [
    "apps/cli/src/commands/server/acp.ts",
    "packages/server/src/acp/create-acp-agent.ts",
    "packages/server/src/acp/serve-acp-stdio.ts",
    "packages/server/src/acp/session-requests.ts",
    "packages/tandem/src/engine/index.ts",
    "packages/workspace/src/folder-config.ts",
    ...ENGINE,
  ],
  status: [
    "apps/cli/src/commands/settings/status.ts",
    "packages/claude-code/src/processes/index.ts",
    "packages/policy/src/tool-policy.ts",
    "packages/runtime/src/index.ts",
    "packages/sandbox/src/index.ts",
    "packages/sessions/src/vaults/vault-key.ts",
    "packages/storage/src/index.ts",
    "packages/storage/src/sqlite/sqlite-database.ts",
    "packages/workspace/src/folder-config.ts",
  ],
};

/**
 * Assigns the modules that a command loads at its start to few chunks. Node takes about a millisecond of CPU to load a chunk,
 * however small, and the bundler makes one for each set of entries that share modules: `tandem run` loaded 71. Modules with
 * the same loaders share a chunk here, so that no command, thread or library loads much more than it needs.
 */
export function startChunks(root: string, output: readonly (OutputChunk | OutputAsset)[]): ReadonlyMap<string, string> {
  const chunks = output.filter((part) => part.type === "chunk");
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const loaders = new Map(chunks.map((chunk) => [chunk, new Set<string>()]));
  const mark = (chunk: OutputChunk, loader: string): void => {
    const known = loaders.get(chunk)!;
    if (known.has(loader)) return;
    known.add(loader);
    for (const file of chunk.imports) {
      const imported = byFile.get(file);
      if (imported) mark(imported, loader);
    }
  };
  const roots = new Set<OutputChunk>();
  for (const [start, files] of Object.entries(STARTS)) {
    for (const file of files) {
      const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId === join(root, file));
      if (!chunk) throw new Error(`${file} is not imported dynamically.`);
      roots.add(chunk);
      mark(chunk, start);
    }
  }
  const started = chunks.filter((chunk) => loaders.get(chunk)!.size > 0 && !chunk.isEntry);
  for (const chunk of chunks) {
    if (chunk.isEntry) mark(chunk, chunk.name);
    else if (chunk.isDynamicEntry && !roots.has(chunk)) {
      mark(chunk, chunk.facadeModuleId?.startsWith(join(root, "apps", "cli")) ? "commands" : "later");
    }
  }
  const bySet = Map.groupBy(started, (chunk) => [...loaders.get(chunk)!].sort().join());
  return new Map(
    [...bySet.values()].flatMap((together, index) =>
      together.flatMap(({ moduleIds }) => moduleIds.map((id): [string, string] => [id, `start-${index}`])),
    ),
  );
}
