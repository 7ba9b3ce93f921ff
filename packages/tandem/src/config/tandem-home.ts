import { TandemError } from "@tandem/protocol";
import { access, constants, mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Variables = Readonly<Record<string, string | undefined>>;

/** The folder for per-user state, as opposed to per-project state. */
export const tandemHome = (env: Variables): string =>
  env["TANDEM_HOME"] ? resolve(env["TANDEM_HOME"]) : join(env["HOME"] || homedir(), ".tandem");

/** The folder of the trust files. A tenant's trust is decided by the operator, so it is kept outside the tenant's folder. */
export const TRUST_HOME = "TANDEM_TRUST_HOME";
export const trustHome = (env: Variables): string => env[TRUST_HOME] ?? tandemHome(env);

/** Creates the folder with mode 0700: it decides which folders may run commands and holds the process ledger. */
export async function ensureTandemHome(env: Variables): Promise<string> {
  const home = tandemHome(env);
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new TandemError(
      "write_failed",
      `The folder ${home} cannot be created: ${(cause as NodeJS.ErrnoException).code}.`,
      { fix: "Create it, or set TANDEM_HOME to another folder.", cause },
    );
  }
  try {
    await access(home, constants.W_OK);
  } catch (cause) {
    throw new TandemError(
      "write_failed",
      `The folder ${home} cannot be written: ${(cause as NodeJS.ErrnoException).code}.`,
      { fix: "Make it writable, or set TANDEM_HOME to another folder.", cause },
    );
  }
  return home;
}
