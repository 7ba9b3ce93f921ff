import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";
import { cassetteCase, type CassetteCase } from "./cassette-case.ts";

export interface FoundCase {
  /** The path as people read it: relative to the working folder. */
  name: string;
  /** The file that declares the case; a bare cassette is its own case. */
  file: string;
  cassette: string;
  test: CassetteCase;
}

const DATA = new Set([".yaml", ".yml"]);
const MODULES = new Set([".ts", ".mjs", ".js"]);

/**
 * Reads the cases of files and folders. In a folder, `*.case.yaml` and `*.case.ts` files declare cases, and every other
 * `*.jsonl` file is a case that must replay identically.
 */
export async function findCases(paths: readonly string[], cwd: string): Promise<FoundCase[]> {
  const listed = await Promise.all(paths.map((path) => filesOf(resolve(cwd, path))));
  const files = [...new Set(listed.flat())];
  const read = await Promise.all(files.map((file) => readCase(file, cwd)));
  const declared = new Set(read.flatMap(({ file, cassette }) => (file === cassette ? [] : [cassette])));
  const cases = read.filter(({ file, cassette }) => file !== cassette || !declared.has(file));
  if (cases.length > 0) return cases;
  throw new TandemError("usage", `There are no cases in ${paths.join(", ")}.`, {
    fix: "Give cassettes (*.jsonl), cases (*.case.yaml, *.case.ts), or a folder that has some.",
  });
}

async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw unreadable(path, cause.code ?? "unknown error", cause);
  });
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(jsonl|case\.(ya?ml|ts|mjs|js))$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(path, file).split("/").includes("node_modules"))
    .sort();
}

async function readCase(file: string, cwd: string): Promise<FoundCase> {
  const name = relative(cwd, file) || basename(file);
  const extension = extname(file);
  if (!DATA.has(extension) && !MODULES.has(extension)) {
    return { name, file, cassette: file, test: cassetteCase.parse({ cassette: basename(file) }) };
  }
  const parsed = cassetteCase.safeParse(await (DATA.has(extension) ? readYaml(file) : readModule(file)));
  if (!parsed.success) {
    throw new TandemError("case_invalid", `The case ${name} is invalid:\n${z.prettifyError(parsed.error)}`, {
      fix: "The keys of a case are in docs/guides/cassettes.md.",
    });
  }
  return { name, file, cassette: resolve(dirname(file), parsed.data.cassette), test: parsed.data };
}

async function readYaml(file: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw unreadable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

async function readModule(file: string): Promise<unknown> {
  try {
    const module: { default?: unknown } = await import(pathToFileURL(file).href);
    return module.default;
  } catch (cause) {
    throw unreadable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

const unreadable = (file: string, why: string, cause: unknown): TandemError =>
  new TandemError("case_unreadable", `Cannot read ${file}: ${why}.`, {
    fix: "Give a cassette (*.jsonl), a case (*.case.yaml, *.case.ts), or a folder.",
    cause,
  });
