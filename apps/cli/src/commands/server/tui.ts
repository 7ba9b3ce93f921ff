import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { TandemError } from "@tandem/protocol";
import { findServer, readAddedFolders, type ServerInfo } from "@tandem/tandem/server";
import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { isWithin } from "../../sessions/find-session.ts";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, runner }: Registration): void {
  command
    .option("-c, --continue", "continue the last session")
    .option("-s, --session <id>", "open this session")
    .action(runner(tui));
  examples(command, "tandem tui", "tandem tui --continue");
}

export interface TuiOptions {
  continue?: boolean;
  session?: string;
}

/** The release whose API Tandem serves. */
const RELEASE = "1.18.18";

/** Runs the installed opencode client on the running server until it ends. */
export async function tui(invocation: Invocation, options: TuiOptions): Promise<number> {
  const { env } = invocation;
  const server = await findServer(env);
  const url = server?.opencode_url;
  if (!server || url === undefined) {
    throw new TandemError(
      "not_running",
      server ? "The running server does not serve opencode's clients." : "No server is running.",
      {
        fix: "Start one with `tandem up --opencode`.",
      },
    );
  }
  const program = await findProgram("opencode", env["PATH"] ?? "");
  if (program === undefined) {
    throw new TandemError("not_found", "opencode is not installed: there is no `opencode` on the PATH.", {
      fix: `Install it with \`npm install --global opencode-ai@${RELEASE}\`.`,
    });
  }
  const password = (await readFile(server.token_file, "utf8")).trim();
  const child = spawn(program, ["attach", url, ...(await folderOf(invocation, server)), ...sessionOf(options)], {
    stdio: "inherit",
    // The token is in the environment, because other users can read arguments.
    env: { ...env, OPENCODE_SERVER_PASSWORD: password },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** Outside of the server's folders, the client works in the server's own. */
async function folderOf({ env, cwd }: Invocation, { roots }: ServerInfo): Promise<string[]> {
  const isServed = [...roots, ...(await readAddedFolders(env))].some((root) => isWithin(root, cwd));
  return isServed ? ["--dir", cwd] : [];
}

function sessionOf({ continue: isContinued, session }: TuiOptions): string[] {
  if (session !== undefined) return ["--session", session.replace(/^sesn_/, "ses_")];
  return isContinued ? ["--continue"] : [];
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder || ".", name);
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return file;
  }
  return undefined;
}
