import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const LAB = join(import.meta.dirname, "..", "fleet-lab.ts");

interface LabResult {
  checks: { name: string; failure?: string }[];
  report?: { faults: { kind: string }[]; violations: unknown[] };
}

/** Runs `npm run fleet-lab` for a test. Its exit code is 1 if it found violations, which the result names. */
export async function runLabCommand(...args: readonly string[]): Promise<LabResult> {
  const running = run(process.execPath, [LAB, "--json", ...args], { maxBuffer: 100_000_000 });
  const { stdout } = await running.catch((error: unknown) => {
    if (isFinding(error)) return error;
    throw error;
  });
  return JSON.parse(stdout) as LabResult;
}

const isFinding = (error: unknown): error is Error & { stdout: string } =>
  error instanceof Error && "stdout" in error && String(error.stdout).startsWith("{");
