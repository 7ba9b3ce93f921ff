import { join } from "node:path";
import { loadServer, sessionRoots } from "@tandem/tandem/compose";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { LogFile, logFolder } from "@tandem/tandem/server";
import type { Logger, Wire } from "@tandem/server";
import type { Project } from "@tandem/tandem/config";
import { openStdioWire } from "@tandem/tandem/stdio";
import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { watchParent } from "../../stdio/watch-parent.ts";
import type { Registration } from "../registration.ts";
import { serverFor } from "../../sessions/open-client.ts";
import { ServerConnection } from "../../sessions/server-connection.ts";

export function register(command: Command, { examples, runner }: Registration): void {
  command.option("--schema", "print the JSON Schema of every line and exit").action(runner(stdio));
  examples(command, "tandem stdio --schema > stdio.schema.json", "tandem --project ~/src/shop stdio");
}

/** Time to answer open requests and clean up after turns have ended. */
const REST_MS = 7_000;

export interface StdioOptions {
  schema?: boolean;
}

/** Serves the API to the parent process as JSON lines until it disconnects or dies. */
export async function stdio(invocation: Invocation, options: StdioOptions): Promise<number> {
  const { stdin, stdout, stderr, version } = invocation;
  const library = await loadServer();
  if (options.schema) {
    stdout.write(`${JSON.stringify(library.stdioSchema(), null, 2)}\n`);
    return 0;
  }
  if (stdin.isTTY) stderr.write("This is the API as JSON lines on stdin and stdout. Start it from a program.\n");
  invocation.allowToStop(STOP_MS + REST_MS);
  using parent = watchParent();
  const signal = AbortSignal.any([invocation.signal, parent.signal]);
  await using log = new LogFile(join(logFolder(invocation.env), "stdio"));
  // Not to stderr: if the host never reads it, the full pipe would block this process.
  const logger = library.createLogger({
    destination: { write: (line) => (invocation.debug ? stderr : log).write(line) },
  });
  const opening = openProjectOrDefaults(invocation).then((project) => openWire(invocation, project, logger));
  await using opened = await opening.catch((error: unknown) => {
    stdout.write(`${library.startErrorLine(error)}\n`);
    throw error;
  });
  const { wire, engine } = opened;
  await library.serveStdio({ wire, engine, stdin, stdout, version, signal, logger });
  return 0;
}

/** Time for running turns to end after the host disconnects. Then they are interrupted. */
const STOP_MS = 3_000;

interface OpenedWire extends AsyncDisposable {
  wire: Wire;
  engine: "own" | "server";
}

/** Connects to the running server if it uses our database and may work in this folder, else opens an engine in this process. */
async function openWire(invocation: Invocation, project: Project, logger: Logger): Promise<OpenedWire> {
  const servers = await Promise.all(sessionRoots(project).map((root) => serverFor(invocation, project, root)));
  const [server] = servers;
  if (server && servers.every(Boolean)) {
    const wire = await ServerConnection.open(server);
    return { wire, engine: "server", [Symbol.asyncDispose]: async () => wire[Symbol.dispose]() };
  }
  return { ...(await openStdioWire(invocation, project, logger, { stopMs: STOP_MS })), engine: "own" };
}
