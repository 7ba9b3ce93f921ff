import { join } from "node:path";
import { Writable } from "node:stream";
import type { ClientServers } from "@tandem/server";
import type { AcpEngine, openAcpEngine } from "@tandem/tandem/engine";
import { loadAcp } from "@tandem/tandem/compose";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { findServer, LogFile, logFolder } from "@tandem/tandem/server";
import type { Command } from "commander";
import { acpLog } from "../../acp/acp-log.ts";
import type { Invocation } from "../../invocation.ts";
import { watchParent } from "../../stdio/watch-parent.ts";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, runner }: Registration): void {
  command
    .option("-a, --agent <name>", "agent of new sessions, by name or id (default: the agent of `tandem run`)")
    .option("--v2", "ignored: the draft of version 2 is no longer supported")
    .option("--setup", "run the setup in the terminal instead (used by editors for login)")
    .action(runner(acp));
  examples(command, "tandem acp", "tandem acp --agent reviewer", "tandem --project ~/src/shop acp");
}

/** Interrupt turns at once: without an editor, no client can show their result. */
const STOP_MS = 0;
/** Time to end processes and store their state. */
const REST_MS = 10_000;
const CHECK_MS = 15_000;

export interface AcpOptions {
  agent?: string;
  /** Ignored: asked for the draft of version 2 in the first release. */
  v2?: boolean;
  setup?: boolean;
}

/** Serves one editor over stdin and stdout until it disconnects or dies. Only protocol messages go to stdout. */
export async function acp(invocation: Invocation, options: AcpOptions): Promise<number> {
  const { stdin, stdout, stderr, version } = invocation;
  if (options.setup) return (await import("../settings/setup.ts")).setup(invocation, { verify: true });
  if (stdin.isTTY) stderr.write("This is an ACP agent on stdin and stdout. Start it from an editor.\n");
  if (options.v2) stderr.write("--v2 is ignored: Tandem supports version 1 of ACP. Omit the option.\n");
  invocation.allowToStop(STOP_MS + REST_MS);
  await using parts = new AsyncDisposableStack();
  const parent = parts.use(watchParent());
  const log = parts.use(new LogFile(join(logFolder(invocation.env), "acp")));
  // Not to stderr: if the editor never reads it, the full pipe would block this process.
  const note = acpLog((line) => void (invocation.debug ? stderr : log).write(line));
  const warn = (details: Record<string, unknown>, message: string): void => void note(details, message);
  const signal = AbortSignal.any([invocation.signal, parent.signal]);
  const output = claimStdout(stdout, stderr);
  if (await findServer(invocation.env)) {
    const { pipeToServer } = await import("../../acp/pipe-to-server.ts");
    if (await pipeToServer(invocation, options, { output, signal })) return 0;
  }
  let servers: ClientServers | undefined;
  // Start opening now: the store's threads start while the ACP code loads. An error is reported when a session is requested.
  const { promise: threadsStart, resolve: meanwhile } = Promise.withResolvers<void>();
  const sessionServers = (session: string) => servers?.of(session) ?? [];
  const opening = openEngine(invocation, options, { sessionServers, meanwhile, log: { warn } });
  const opened = opening.catch(() => undefined);
  // Also dispose of an engine that is still opening.
  parts.defer(async () => (await opened)?.[Symbol.asyncDispose]());
  await Promise.race([threadsStart, opened]);
  const { serveAcpStdio } = await loadAcp();
  await serveAcpStdio({
    stdin,
    stdout: output,
    signal,
    version,
    who: localActor(),
    mayKeepRules: true,
    onFailure: (error, what) => warn({ error: String(error) }, `${what} failed`),
    open: (brought) => {
      servers = brought;
      return opening;
    },
    async checkLogin() {
      const { checkLogin } = await import("@tandem/tandem/engine");
      await checkLogin(invocation, await openProjectOrDefaults(invocation), CHECK_MS);
    },
  });
  return 0;
}

async function openEngine(
  invocation: Invocation,
  { agent }: AcpOptions,
  parts: Pick<Parameters<typeof openAcpEngine>[2], "sessionServers" | "meanwhile" | "log">,
): Promise<AcpEngine> {
  const { openAcpEngine: open } = await import("@tandem/tandem/engine");
  return open(invocation, await openProjectOrDefaults(invocation), { ...parts, agent, stopMs: STOP_MS });
}

/** Reserves stdout for one writer. All other output of this process goes to stderr. */
function claimStdout(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Writable {
  const write = stdout.write.bind(stdout) as (chunk: Uint8Array, then: (error?: Error | null) => void) => boolean;
  stdout.write = stderr.write.bind(stderr);
  const claimed = new Writable({ write: (chunk: Uint8Array, _encoding, then) => void write(chunk, then) });
  // The protocol's reader detects a closed pipe by itself.
  claimed.on("error", () => {});
  stdout.once("close", () => claimed.destroy());
  return claimed;
}
