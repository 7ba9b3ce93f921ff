import { TandemError } from "@tandem/protocol";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Where Tandem keeps what belongs to the user rather than to a project. */
export const tandemHome = (env: Variables): string =>
  env["TANDEM_HOME"] ? resolve(env["TANDEM_HOME"]) : join(env["HOME"] || homedir(), ".tandem");

/** Where it is kept whom and what the user trusts: for a tenant that is the operator's to say, and not in its own folder. */
export const TRUST_HOME = "TANDEM_TRUST_HOME";
export const trustHome = (env: Variables): string => env[TRUST_HOME] ?? tandemHome(env);

/** For the user's eyes only: it says which folders may run commands, and holds the ledger of processes. */
export async function ensureTandemHome(env: Variables): Promise<string> {
  const home = tandemHome(env);
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new TandemError(
      "write_failed",
      `The folder ${home} cannot be made: ${(cause as NodeJS.ErrnoException).code}.`,
      {
        fix: "Make it yourself, or set TANDEM_HOME to a folder of yours.",
        cause,
      },
    );
  }
  return home;
}
