import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { SdkOutcome } from "./sweep-table.ts";

const ROOT = resolve(import.meta.dirname, "../../../../..");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** A value, and the name of a type of the SDK that it has to fit. */
export interface Claim {
  name: string;
  type: string;
  value: unknown;
}

export const claimOf = ({ name, responses, status, answer }: SdkOutcome): Claim[] =>
  responses === undefined || answer === undefined ? [] : [{ name, type: `Sdk.${responses}[${status}]`, value: answer }];

/** Has the compiler check values against types of the SDK. Returns its complaints, with the names of the claims. */
export async function misfits(claims: readonly Claim[], sdk: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-opencode-"));
  try {
    const file = join(folder, "answers.ts");
    const types = JSON.stringify(join(sdk, "dist/v2/gen/types.gen.js"));
    const lines = [
      `import type * as Sdk from ${types};`,
      // V is inferred, so fields that the SDK's type lacks are allowed. Missing fields and wrong values are not.
      "const fits = <T,>() => <V extends T>(value: V): V => value;",
      ...claims.map(({ name, type, value }) => `/* ${name} */ fits<${type}>()(${JSON.stringify(value)});`),
    ];
    await writeFile(file, lines.join("\n"));
    return (await compile(file)).map((complaint) =>
      complaint.replace(/^.*answers\.ts\((\d+),\d+\)/, (_, line) => lines[Number(line) - 1]!.split(" ")[1] ?? ""),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const compile = (file: string): Promise<string[]> =>
  new Promise((done) => {
    const settings = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
    execFile(
      process.execPath,
      [TSC, "--ignoreConfig", ...settings, file],
      { timeout: 300_000 },
      (error, out, errors) => {
        const lines = `${out}${errors}`.split("\n").filter((line) => line.trim() !== "");
        done(error && lines.length === 0 ? [error.message] : lines);
      },
    );
  });
