import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";

/** Who may import whom. `rehearsal` stands for tests alone, but for the two commands that are about it. */
const LIBRARIES = `protocol policy workspace storage queue claude-code runtime connectors relationships sessions context
  server`.split(/\s+/);
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  rehearsal: [],
  client: ["protocol"],
  "claude-code": ["protocol"],
  workspace: ["protocol"],
  storage: ["protocol"],
  queue: ["protocol"],
  runtime: ["protocol", "claude-code"],
  connectors: ["protocol"],
  relationships: ["protocol", "connectors"],
  policy: ["protocol"],
  sessions: ["protocol", "policy", "storage", "queue", "workspace", "claude-code"],
  context: ["protocol", "storage", "workspace", "runtime", "connectors", "relationships"],
  server: ["protocol", "storage", "queue", "runtime", "sessions", "context"],
  tandem: LIBRARIES,
  cli: [...LIBRARIES, "tandem", "rehearsal"],
  web: ["protocol", "client"],
};

/** Libraries that one room alone may know: whoever else wants a model goes through the runtime. */
const OWNED: readonly [library: RegExp, owner: string][] = [
  [/^@anthropic-ai\/claude-agent-sdk/, "claude-code"],
  [/^pg-boss$/, "queue"],
  [/^(ai|@ai-sdk\/.*)$/, "runtime"],
];

/** The official client is our outside judge: tests alone use it. */
const JUDGE = /^@anthropic-ai\/sdk/;

const REHEARSING_COMMANDS = ["src/commands/settings/demo", "src/commands/settings/rehearse", "src/demo/"];

/** Entry points beside `index.ts`, for commands that must start fast and so load one part of a package only. */
const SIDE_DOORS: ReadonlySet<string> = new Set([
  "@tandem/server/acp",
  ...["compose", "config", "context", "engine", "fleet", "health", "models", "project", "server", "tenants"].map(
    (part) => `@tandem/tandem/${part}`,
  ),
]);

/** Side doors, for tests alone. */
const TEST_DOORS = new Set(["@tandem/policy/testing", "@tandem/storage/testing"]);

const root = join(import.meta.dirname, "..");
const isTest = (file: string): boolean =>
  /\.test\.ts$|\.contract\.ts$|^src\/(.*\/)?(testing|contract|faults)\//.test(file);

interface Import {
  room: string;
  /** Path inside the room. */
  file: string;
  target: string;
}

const rooms = Object.fromEntries(
  globSync("{packages,apps}/*/package.json", { cwd: root }).map((file) => {
    const folder = join(root, dirname(file));
    const manifest = z
      .object({
        name: z.string(),
        dependencies: z.record(z.string(), z.string()).default({}),
        devDependencies: z.record(z.string(), z.string()).default({}),
      })
      .parse(JSON.parse(readFileSync(join(root, file), "utf8")));
    return [folder.split(sep).at(-1)!, { folder, ...manifest }];
  }),
);

// Formatted code has its imports and re-exports at the beginning of a line; what is indented is code in a string.
const STATIC_IMPORT = /^(?:import|export)\b(?:[\w$*\s{},]*?\bfrom)?\s*["']([^"']+)["']/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*["']([^"']+)["']/g;

const importsIn = (source: string): string[] =>
  [STATIC_IMPORT, DYNAMIC_IMPORT].flatMap((form) => [...source.matchAll(form)].map((match) => match[1]!));

const imports: Import[] = Object.entries(rooms).flatMap(([room, { folder }]) =>
  globSync("src/**/*.ts", { cwd: folder }).flatMap((file) => {
    const source = readFileSync(join(folder, file), "utf8");
    return importsIn(source).map((target) => ({ room, file, target }));
  }),
);

const packageOf = (target: string): string => target.split("/", target.startsWith("@") ? 2 : 1).join("/");
const roomOf = (target: string): string | undefined =>
  Object.keys(rooms).find((room) => rooms[room]!.name === packageOf(target));
const where = ({ room, file, target }: Import): string => `${room}/${file} imports ${target}`;

test("imports are found in each of their forms, and nothing else is taken for one", () => {
  const source = [
    'import "a";',
    'import b from "b" with { type: "json" };',
    'import type { C } from "c";',
    "import {",
    "  type D,",
    "  d,",
    "} from 'd';",
    'export { e } from "e";',
    'export * as f from "f";',
    'export type { G } from "g";',
    'const h = await import("h");',
    'type I = import("i").I;',
    // Not these:
    "const text = `${import.meta.resolve(",
    '  "x1",',
    ")}`;",
    'const script = `\n  import { x } from "x2";`;',
    'export const note = "from";',
    'export const from = ["x3"];',
    'const other = reimport("x4");',
  ].join("\n");
  expect(importsIn(source)).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
});

describe("the house", () => {
  test("has a place in the table for every room, and imports were found in each", () => {
    expect(Object.keys(rooms).toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
    expect(new Set(imports.map(({ room }) => room)).size).toBe(Object.keys(rooms).length);
  });

  test("rooms import only rooms that they may", () => {
    const wrong = imports.filter(({ room, file, target }) => {
      const other = roomOf(target);
      if (!other || other === room) return false;
      // Tests may put together what the product's own wiring would: whatever their room declares for development.
      if (isTest(file) && packageOf(target) in rooms[room]!.devDependencies) return false;
      return !MAY_IMPORT[room]!.includes(other);
    });
    expect(wrong.map(where)).toEqual([]);
  });

  test("outside of tests, only the commands about it use the rehearsal", () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        roomOf(target) === "rehearsal" &&
        !isTest(file) &&
        !REHEARSING_COMMANDS.some((prefix) => file.startsWith(prefix)),
    );
    expect(wrong.map(where)).toEqual([]);
  });

  test("rooms are entered by their front door", () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        roomOf(target) &&
        target !== packageOf(target) &&
        !(isTest(file) && TEST_DOORS.has(target)) &&
        !SIDE_DOORS.has(target),
    );
    const climbing = imports.filter(({ room, file, target }) => {
      if (!target.startsWith(".")) return false;
      const { folder } = rooms[room]!;
      return relative(folder, join(folder, dirname(file), target)).startsWith("..");
    });
    expect([...wrong, ...climbing].map(where)).toEqual([]);
  });

  test("every import of a library is declared by the room that makes it", () => {
    const wrong = imports.filter(({ room, file, target }) => {
      if (target.startsWith(".") || target.startsWith("node:") || builtinModules.includes(target)) return false;
      const { dependencies, devDependencies } = rooms[room]!;
      const declared = isTest(file) ? { ...dependencies, ...devDependencies, vitest: "" } : dependencies;
      return !(packageOf(target) in declared);
    });
    expect(wrong.map(where)).toEqual([]);
  });

  test("protocol runs in a browser: zod and nothing else", () => {
    const wrong = imports.filter(
      ({ room, file, target }) => room === "protocol" && !isTest(file) && !target.startsWith(".") && target !== "zod",
    );
    expect(wrong.map(where)).toEqual([]);
  });
});

describe("every LLM call goes through the runtime", () => {
  test.each(OWNED)("%s is known to %s alone", (library, owner) => {
    const wrong = imports.filter(({ room, file, target }) => library.test(target) && room !== owner && !isTest(file));
    expect(wrong.map(where)).toEqual([]);
  });

  test("the official client is used by tests alone", () => {
    expect(imports.filter(({ file, target }) => JUDGE.test(target) && !isTest(file)).map(where)).toEqual([]);
  });

  test("nobody else sends requests to a model's API by hand", () => {
    const wrong = Object.entries(rooms)
      .filter(([room]) => !["rehearsal"].includes(room))
      .flatMap(([room, { folder }]) =>
        globSync("src/**/*.ts", { cwd: folder })
          .filter((file) => !isTest(file))
          .filter((file) => /\/v1\/messages|:rawPredict|language-model/.test(readFileSync(join(folder, file), "utf8")))
          .map((file) => `${room}/${file}`),
      );
    expect(wrong).toEqual([]);
  });
});
