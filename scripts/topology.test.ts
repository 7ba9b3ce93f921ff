import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const LIBRARIES =
  `protocol policy workspace storage queue sandbox claude-code runtime connectors relationships metrics sessions context
  server`.split(/\s+/);
/** The allowed imports of each package. Only tests and the two commands about it use `rehearsal`. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  rehearsal: ["sandbox"],
  client: ["protocol"],
  sandbox: ["protocol"],
  "claude-code": ["protocol", "sandbox"],
  workspace: ["protocol"],
  storage: ["protocol"],
  queue: ["protocol", "storage"],
  runtime: ["protocol", "claude-code"],
  connectors: ["protocol"],
  relationships: ["protocol", "connectors"],
  metrics: ["protocol", "connectors"],
  policy: ["protocol"],
  sessions: ["protocol", "policy", "storage", "queue", "workspace", "sandbox", "claude-code"],
  context: ["protocol", "storage", "queue", "workspace", "runtime", "connectors", "relationships", "metrics"],
  server: ["protocol", "client", "storage", "queue", "runtime", "sessions", "context"],
  emulator: ["protocol", "rehearsal", "workspace", "claude-code", "storage", "sessions", "server"],
  "crash-test": ["protocol", "rehearsal", "emulator"],
  tandem: LIBRARIES,
  cli: [...LIBRARIES, "tandem", "client", "rehearsal", "emulator", "crash-test"],
  web: ["protocol", "client"],
};

/** Folders and top-level files of these packages form layers: none imports one that imports it in turn. */
const LAYERED =
  `crash-test sessions server cli web claude-code client connectors context emulator metrics policy queue rehearsal
  relationships runtime sandbox storage tandem workspace`.split(/\s+/);
const MAX_FILES = 25;

/** Libraries that only one package may import: all others use its API. */
const OWNED: readonly [library: RegExp, owner: string][] = [
  [/^@anthropic-ai\/claude-agent-sdk/, "claude-code"],
  [/^(ai|@ai-sdk\/.*)$/, "runtime"],
];

/** The official client tests our server, so only tests import it. */
const JUDGE = /^@anthropic-ai\/sdk/;

const REHEARSING_COMMANDS = [
  "src/commands/settings/demo",
  "src/commands/settings/emulator",
  "src/commands/settings/rehearse",
  "src/demo/",
  "src/library/emulator",
];

/** Entry points besides `index.ts`, for commands that must start fast and load only one part of a package. */
const ENTRY_POINTS: ReadonlySet<string> = new Set([
  "@tandem/claude-code/credential",
  "@tandem/claude-code/processes",
  "@tandem/claude-code/emulated",
  "@tandem/emulator/network",
  "@tandem/policy/tool-policy",
  "@tandem/protocol/canonical-json",
  "@tandem/sandbox/certificates",
  "@tandem/server/acp",
  "@tandem/sessions/trust",
  "@tandem/sessions/vault-key",
  "@tandem/storage/postgres",
  "@tandem/storage/read-all",
  "@tandem/storage/shrink-heap",
  "@tandem/workspace/folder-config",
  ...[
    "compose",
    "config",
    "context",
    "engine",
    "fleet",
    "health",
    "models",
    "project",
    "server",
    "stdio",
    "tenants",
  ].map((part) => `@tandem/tandem/${part}`),
]);

/** Additional entry points for tests. */
const TEST_ENTRY_POINTS = new Set([
  "@tandem/connectors/testing",
  "@tandem/policy/testing",
  "@tandem/server/testing",
  "@tandem/storage/testing/pgbouncer",
  "@tandem/storage/testing/scratch-store",
  "@tandem/storage/testing",
  "@tandem/tandem/testing",
  "@tandem/workspace/testing",
]);

/** The runtime's pass-through of the Messages API, the gateway of sandboxes, and files that name the server's own route of that address. */
const NAME_MESSAGES: ReadonlySet<string> = new Set([
  "runtime/src/messages/upstream.ts",
  "sandbox/src/proxy/api/judge-api-request.ts",
  "claude-code/src/emulated/stream-model.ts",
  "protocol/src/api/endpoints.ts",
  "server/src/http/reference/api-reference.ts",
  "server/src/http/routes/server/refused-routes.ts",
]);

/** Files of the engine that read real time, and the reason. */
const READ_REAL_TIME: Readonly<Record<string, string>> = {
  "src/host/external-deadline.ts": "deadlines of other programs and servers",
  "src/host/movable-clock.ts": "is a clock, which continues from real time",
};

/** Files of the engine with a clock that a test cannot move, and the reason. */
const USE_SYSTEM_CLOCK: Readonly<Record<string, string>> = {
  "src/create-engine.ts": "the default of the engine's clock",
  "src/host/process-end.ts": "the end of a program's output",
  "src/language-servers/diagnostic-wait.ts": "an answer of a language server",
  "src/process/start-gate.ts": "starts of Claude Code by all engines of this process",
  "src/sandbox/run-shell.ts": "the deadline of a command",
};

const REAL_TIME =
  /\b(?:Date\.now|performance\.now|process\.hrtime|AbortSignal\.timeout|setTimeout|setInterval)\b|\bnew Date\b(?!\()|\bDate\(\s*\)|["'](?:node:)?timers(?:\/promises)?["']/;

const root = join(import.meta.dirname, "..");
const isTest = (file: string): boolean =>
  /\.test\.ts$|\.contract\.ts$|^src\/(.*\/)?(testing|contract|faults|judge)\//.test(file);

interface Import {
  workspace: string;
  /** The path inside the package. */
  file: string;
  target: string;
}

const workspaces = Object.fromEntries(
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

// In formatted code, imports and re-exports start a line; indented ones are code in a string.
const STATIC_IMPORT = /^(?:import|export)\b(?:[\w$*\s{},]*?\bfrom)?\s*["']([^"']+)["']/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*["']([^"']+)["']/g;

const importsIn = (source: string): string[] =>
  [STATIC_IMPORT, DYNAMIC_IMPORT].flatMap((form) => [...source.matchAll(form)].map((match) => match[1]!));

const imports: Import[] = Object.entries(workspaces).flatMap(([workspace, { folder }]) =>
  globSync("src/**/*.{ts,tsx}", { cwd: folder }).flatMap((file) => {
    const source = readFileSync(join(folder, file), "utf8");
    return importsIn(source).map((target) => ({ workspace, file, target }));
  }),
);

const packageOf = (target: string): string => target.split("/", target.startsWith("@") ? 2 : 1).join("/");
const workspaceOf = (target: string): string | undefined =>
  Object.keys(workspaces).find((workspace) => workspaces[workspace]!.name === packageOf(target));
const where = ({ workspace, file, target }: Import): string => `${workspace}/${file} imports ${target}`;

/** Removes folders that import no other until none is left to remove. The rest are cycles and their importers. */
function circleOf(arrows: readonly { from: string; to: string }[]): string[] {
  let left = arrows;
  for (;;) {
    const importing = new Set(left.map(({ from }) => from));
    const next = left.filter(({ to }) => importing.has(to));
    if (next.length === left.length) return [...new Set(left.map(({ from, to }) => `${from} imports ${to}`))];
    left = next;
  }
}

test("every form of import is found, and nothing else", () => {
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

describe("packages", () => {
  test("are all in the table, and each has imports", () => {
    expect(Object.keys(workspaces).toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
    expect(new Set(imports.map(({ workspace }) => workspace)).size).toBe(Object.keys(workspaces).length);
  });

  test("import only allowed packages", () => {
    const wrong = imports.filter(({ workspace, file, target }) => {
      const other = workspaceOf(target);
      if (!other || other === workspace) return false;
      // Tests may wire packages themselves, if their package declares them as dev dependencies.
      if (isTest(file) && packageOf(target) in workspaces[workspace]!.devDependencies) return false;
      return !MAY_IMPORT[workspace]!.includes(other);
    });
    expect(wrong.map(where)).toEqual([]);
  });

  test("outside tests, only the commands about it use the rehearsal", () => {
    const wrong = imports.filter(
      ({ workspace, file, target }) =>
        workspaceOf(target) === "rehearsal" &&
        !["emulator", "crash-test"].includes(workspace) &&
        !isTest(file) &&
        !REHEARSING_COMMANDS.some((prefix) => file.startsWith(prefix)),
    );
    expect(wrong.map(where)).toEqual([]);
  });

  test("are imported by their entry points", () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        workspaceOf(target) &&
        target !== packageOf(target) &&
        !(isTest(file) && TEST_ENTRY_POINTS.has(target)) &&
        !ENTRY_POINTS.has(target),
    );
    const climbing = imports.filter(({ workspace, file, target }) => {
      if (!target.startsWith(".")) return false;
      const { folder } = workspaces[workspace]!;
      return relative(folder, join(folder, dirname(file), target)).startsWith("..");
    });
    expect([...wrong, ...climbing].map(where)).toEqual([]);
  });

  test("declare every library that they import", () => {
    const wrong = imports.filter(({ workspace, file, target }) => {
      if (target.startsWith(".") || target.startsWith("node:") || builtinModules.includes(target)) return false;
      const { dependencies, devDependencies } = workspaces[workspace]!;
      const declared = isTest(file) ? { ...dependencies, ...devDependencies, vitest: "" } : dependencies;
      return !(packageOf(target) in declared);
    });
    expect(wrong.map(where)).toEqual([]);
  });

  test("have no folder with more than 25 source files", () => {
    const counts = new Map<string, number>();
    for (const file of globSync(["{packages,apps}/*/src/**/*.{ts,tsx}", "{bench,scripts}/**/*.ts"], {
      cwd: root,
      exclude: ["scripts/fleet-lab/**"],
    })) {
      if (!/\.test\.tsx?$/.test(file)) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });

  test.each(LAYERED)("%s: its folders do not import each other in a circle", (name) => {
    const roomOf = (file: string): string => relative("src", file).split(sep)[0]!;
    const arrows = imports
      .filter(({ workspace, file, target }) => workspace === name && !isTest(file) && target.startsWith("."))
      .map(({ file, target }) => ({ from: roomOf(file), to: roomOf(join(dirname(file), target)) }))
      .filter(({ from, to }) => from !== to);
    expect(arrows).not.toEqual([]);
    expect(circleOf(arrows)).toEqual([]);
  });

  test("protocol runs in a browser: zod, the parser of server-sent events and nothing else", () => {
    const wrong = imports.filter(
      ({ workspace, file, target }) =>
        workspace === "protocol" && !isTest(file) && !/^(\.|zod$|eventsource-parser$)/.test(target),
    );
    expect(wrong.map(where)).toEqual([]);
  });
});

test("every form of reading real time is found, and nothing else", () => {
  const reading = [
    "Date.now()",
    "new Date()",
    "new Date",
    "Date()",
    "performance.now()",
    "process.hrtime.bigint()",
    "AbortSignal.timeout(1)",
    "setTimeout(end, 1)",
    'import { setTimeout as sleep } from "node:timers/promises"',
    'await import("timers")',
  ];
  expect(reading.filter((code) => !REAL_TIME.test(code))).toEqual([]);
  const others = [
    "new Date(clock.now())",
    "now: () => Date",
    "Date.parse(at)",
    "new DateRange()",
    "clock.after(1, end)",
  ];
  expect(others.filter((code) => REAL_TIME.test(code))).toEqual([]);
});

test("the engine reads the time from a clock only, so that tests can move it", () => {
  const { folder } = workspaces["sessions"]!;
  const filesWith = (pattern: RegExp): string[] =>
    globSync("src/**/*.ts", { cwd: folder })
      .filter((file) => !isTest(file) && pattern.test(readFileSync(join(folder, file), "utf8")))
      .toSorted();
  expect(filesWith(REAL_TIME)).toEqual(Object.keys(READ_REAL_TIME));
  expect(filesWith(/\bsystemClock\b/)).toEqual(Object.keys(USE_SYSTEM_CLOCK));
});

describe("every LLM call goes through the runtime", () => {
  test.each(OWNED)("%s is imported by %s only", (library, owner) => {
    const wrong = imports.filter(
      ({ workspace, file, target }) => library.test(target) && workspace !== owner && !isTest(file),
    );
    expect(wrong.map(where)).toEqual([]);
  });

  test("only tests import the official client", () => {
    expect(imports.filter(({ file, target }) => JUDGE.test(target) && !isTest(file)).map(where)).toEqual([]);
  });

  test("no other code calls a model API directly", () => {
    const wrong = Object.entries(workspaces)
      .filter(([workspace]) => !["rehearsal"].includes(workspace))
      .flatMap(([workspace, { folder }]) =>
        globSync("src/**/*.ts", { cwd: folder })
          .filter((file) => !isTest(file))
          .filter((file) => /\/v1\/messages|:rawPredict|language-model/.test(readFileSync(join(folder, file), "utf8")))
          .map((file) => `${workspace}/${file}`),
      );
    expect(wrong.filter((file) => !NAME_MESSAGES.has(file))).toEqual([]);
  });
});
