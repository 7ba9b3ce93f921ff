import { TandemError } from "@tandem/protocol";
import { loadProcesses } from "@tandem/tandem/compose";
import type { Command } from "commander";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Invocation } from "../../invocation.ts";
import type { Registration } from "../registration.ts";

interface LoginOptions {
  console?: boolean;
  sso?: boolean;
  email?: string;
}

export function registerLogin(command: Command, { examples, runner }: Registration): void {
  command
    .option("--console", "log in to the Anthropic Console, billed by use, instead of a Claude subscription")
    .option("--sso", "use single sign-on")
    .option("--email <address>", "fill in the email address")
    .action(
      runner((invocation, { console, sso, email }: LoginOptions) =>
        runAuth(invocation, [
          "login",
          ...(console ? ["--console"] : []),
          ...(sso ? ["--sso"] : []),
          ...(email === undefined ? [] : ["--email", email]),
        ]),
      ),
    );
  examples(command, "tandem login", "tandem login --console");
}

export function registerLogout(command: Command, { examples, runner }: Registration): void {
  command.action(runner((invocation) => runAuth(invocation, ["logout"])));
  examples(command, "tandem logout");
}

/**
 * Runs Claude Code's own login on this terminal, with the user's own variables. Tandem never sees the credential: Claude
 * Code stores it where the user's `claude` finds it too.
 */
async function runAuth(invocation: Invocation, args: readonly string[]): Promise<number> {
  const { claudePath, cwd, env } = invocation;
  const { findExecutable } = await loadProcesses();
  // A project's own choice of program does not count here: its tandem.yaml may be untrusted.
  const program = findExecutable(claudePath && resolve(cwd, claudePath));
  const child = spawn(program, ["auth", ...args], { stdio: "inherit", env, cwd });
  const onAbort = (): boolean => child.kill("SIGINT");
  invocation.signal.addEventListener("abort", onAbort);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? 1;
  } catch (cause) {
    throw new TandemError("no_executable", `Claude Code could not be started: ${program}.`, {
      cause,
      fix: "Check it with `tandem doctor`.",
    });
  } finally {
    invocation.signal.removeEventListener("abort", onAbort);
  }
}
