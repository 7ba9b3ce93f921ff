import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RehearsalError } from "./rehearsal-error.ts";

export interface TypedValue {
  /** Names the value in a mismatch. */
  name: string;
  /** A type expression. */
  type: string;
  value: unknown;
}

export interface TypeMismatch {
  name: string;
  /** The compiler's message. */
  problem: string;
}

export interface TypeSource {
  /** The folder whose installed TypeScript and SDK are used. */
  folder: string;
  /** The package with the types. */
  library: string;
  /** Imports and types that the expressions use, a line each. */
  prelude: readonly string[];
}

/**
 * Has TypeScript compare JSON values with types: they are written as literals into a file that it compiles. Fields that a
 * type lacks are allowed. Missing fields and wrong values are mismatches.
 */
export async function typeMismatches(values: readonly TypedValue[], source: TypeSource): Promise<TypeMismatch[]> {
  if (values.length === 0) return [];
  const tsc = join(installedPackage("typescript", source.folder).folder, "bin", "tsc");
  const library = installedPackage(source.library, source.folder);
  const scratch = await mkdtemp(join(tmpdir(), "type-mismatches-"));
  try {
    const link = join(scratch, "node_modules", source.library);
    await mkdir(dirname(link), { recursive: true });
    await symlink(library.folder, link, "junction");
    const head = [...source.prelude, ...READ];
    // One value per line, so that the line of an error names the value.
    const checks = values.map(
      ({ type, value }, index) =>
        `const value${index} = ${JSON.stringify(value)} as const; fits<${type}>(value${index});`,
    );
    const file = join(scratch, "values.ts");
    await writeFile(file, `${[...head, ...checks].join("\n")}\n`);
    return (await compile(tsc, file)).map(({ line, problem }) => ({
      name: values[line - 1 - head.length]?.name ?? "the types",
      problem,
    }));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** `as const` keeps the literal types of a value and makes its lists read-only: the types must allow that. */
const READ = [
  "type Read<T> = T extends readonly (infer U)[] ? readonly Read<U>[] : T extends object ? { readonly [K in keyof T]: Read<T[K]> } : T;",
  "declare function fits<T>(value: Read<T>): void;",
];

/** The errors that TypeScript reports. Of each, the innermost reason, which it indents most and prints last. */
async function compile(tsc: string, file: string): Promise<{ line: number; problem: string }[]> {
  const flags = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--pretty",
    "false",
    "--ignoreConfig",
    "--module",
    "nodenext",
  ];
  const { code, output } = await new Promise<{ code: unknown; output: string }>((settle) => {
    const limits = { maxBuffer: 64 * 1024 * 1024, timeout: 300_000, cwd: dirname(file) };
    execFile(process.execPath, [tsc, ...flags, file], limits, (error, stdout, stderr) =>
      settle({ code: error?.code ?? 0, output: `${stdout}${stderr}` }),
    );
  });
  const errors: { line: number; problem: string }[] = [];
  for (const text of output.split("\n")) {
    const [, line, problem] = /\((\d+),\d+\): error TS\d+: (.*)$/.exec(text) ?? [];
    const last = errors.at(-1);
    if (line !== undefined && problem !== undefined) errors.push({ line: Number(line), problem });
    else if (last && text.startsWith("  ")) last.problem = text.trim();
  }
  for (const error of errors) error.problem = error.problem.replaceAll(/'[^']{80,}'/g, "'…'");
  if (code !== 0 && errors.length === 0) {
    const fix = "Run `npx tsc --version` in that folder, and install a current TypeScript.";
    throw new RehearsalError("check_impossible", `TypeScript failed: ${output.trim().slice(0, 500)}`, fix);
  }
  return errors;
}

/** A package as a program in `folder` would find it. */
export function installedPackage(name: string, folder: string): { folder: string; version: string } {
  const require = createRequire(join(folder, "package.json"));
  for (const path of require.resolve.paths(name) ?? []) {
    const manifest = join(path, name, "package.json");
    if (!existsSync(manifest)) continue;
    const { version } = require(manifest) as { version: string };
    return { folder: join(path, name), version };
  }
  const fix = `Run \`npm install --save-dev ${name}\` there, or give another folder.`;
  throw new RehearsalError("check_impossible", `${name} is not installed for ${folder}.`, fix);
}
