import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { MethodOutcome } from "./run-sweep.ts";

const ROOT = resolve(import.meta.dirname, "../../../../..");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

const PRELUDE = `import type Anthropic from "@anthropic-ai/sdk";
type Answer<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;
type Items<P> = P extends { getPaginatedItems(): infer I } ? I : never;
type Streamed<S> = S extends AsyncIterable<infer E> ? E[] : never;
// V is inferred, so fields that the client's type lacks are allowed. Missing fields and wrong values are not.
const fits = <T,>() => <V extends T>(value: V): V => value;
`;

/**
 * Has the compiler check the answers of a sweep against the return types of the client's methods: it writes them as
 * literals into a file. Returns the compiler's complaints.
 */
export async function misfits(outcomes: readonly MethodOutcome[]): Promise<string[]> {
  const folder = await mkdtemp(join(ROOT, "packages/server/.answers-"));
  try {
    const file = join(folder, "answers.ts");
    const lines = [...PRELUDE.split("\n"), ...outcomes.map(checkOf)];
    await writeFile(file, lines.join("\n"));
    // The compiler names lines; each begins with the name of its method.
    return (await compile(file)).map((complaint) =>
      complaint.replace(/^.*answers\.ts\((\d+),\d+\)/, (_, line) => lines[Number(line) - 1]!.split(" ")[1] ?? ""),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkOf({ name, outcome }: MethodOutcome): string {
  if (outcome.type !== "works" || typeof outcome.answer !== "object" || outcome.answer === null) return "";
  const answerType = `Answer<Anthropic${name
    .split(".")
    .map((part) => `["${part}"]`)
    .join("")}>`;
  const check = (type: string, value: unknown): string => `/* ${name} */ fits<${type}>()(${JSON.stringify(value)});`;
  const { answer } = outcome;
  if (answer instanceof Response) return "";
  if ("getPaginatedItems" in answer)
    return check(`Items<${answerType}>`, withoutOurs((answer as Page).getPaginatedItems()));
  if (Array.isArray(answer)) return check(`Streamed<${answerType}>`, withoutOurs(answer));
  return check(answerType, answer);
}

interface Page {
  getPaginatedItems(): unknown[];
}

/** Lists without our own events and fields. The compiler refuses fields that the type lacks where all items of a list have them. */
const withoutOurs = (items: readonly unknown[]): unknown[] =>
  (items as readonly { type?: string; tandem?: unknown }[])
    .filter(({ type }) => !type?.startsWith("tandem."))
    .map((item) => ({ ...item, tandem: undefined }));

const compile = (file: string): Promise<string[]> =>
  new Promise((done) => {
    const settings = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
    execFile(
      process.execPath,
      [TSC, "--ignoreConfig", ...settings, file],
      { timeout: 60_000 },
      (error, out, errors) => {
        const lines = `${out}${errors}`.split("\n").filter((line) => line.trim() !== "");
        done(error && lines.length === 0 ? [error.message] : lines);
      },
    );
  });
