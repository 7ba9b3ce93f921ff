import { OwnedProcess } from "../owned-process.ts";
import { ProcessLedger } from "../process-ledger.ts";

// A separate program that owns a command until its parent kills it.
const [folder = "", command = ""] = process.argv.slice(2);
const { gone } = new OwnedProcess(new ProcessLedger(folder), {
  command: "/bin/sh",
  args: ["-c", command],
  cwd: process.cwd(),
  env: process.env,
});
await gone;
