import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** A package that users install. See docs/decisions/0034-three-npm-packages.md. */
export interface PublishedPackage {
  name: string;
  description: string;
  /** The workspace whose version, licence and `bin` it has. */
  workspace: string;
  /** Entry points by the path that users import: "." or "./NAME". */
  exports: Readonly<Record<string, string>>;
}

const inRoot = (entries: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).map(([path, file]) => [path, join(root, file)]));

export const SERVER_PACKAGE: PublishedPackage = {
  name: "tandem-agent-server",
  description: "Your own Managed Agents server: Claude Code as an engine for other software.",
  workspace: join(root, "apps/cli"),
  exports: inRoot({
    ".": "apps/cli/src/library/server.ts",
    "./emulator": "apps/cli/src/library/emulator.ts",
    "./runtime": "apps/cli/src/library/runtime.ts",
  }),
};

/** Small packages for programs that need no Claude Code: 0.5 MB instead of 400. */
export const LIBRARY_PACKAGES: readonly PublishedPackage[] = [
  {
    name: "tandem-agent-client",
    description: "A typed client of the Tandem server, over HTTP or stdio.",
    workspace: join(root, "packages/client"),
    exports: inRoot({ ".": "packages/client/src/index.ts", "./stdio": "packages/client/src/stdio/index.ts" }),
  },
  {
    name: "tandem-agent-rehearsal",
    description: "A scripted stand-in for Claude's API on loopback, for tests.",
    workspace: join(root, "packages/rehearsal"),
    exports: inRoot({ ".": "packages/rehearsal/src/index.ts" }),
  },
];

/** The file name of an entry point: `index` for ".". */
export const entryName = (path: string): string => (path === "." ? "index" : path.slice("./".length));
