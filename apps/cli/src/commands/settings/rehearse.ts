import { once } from "node:events";
import { basename, resolve } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { toPort } from "../../number-options.ts";
import { styleFor, table, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const serving = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .helpOption("-h, --help", "print help")
      .option("--port <number>", "port on 127.0.0.1 (default: a free one)")
      .option("--proxy", "also run a TLS proxy, for clients that need the real host names")
      .addOption(json());
  examples(
    serving("serve", "Serve the replies of a script.")
      .argument("<script>", "a .ts or .js module that exports a script, or a .json list of replies")
      .action(runner(serve)),
    "tandem rehearse serve script.ts --port 8080",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=rehearsal claude -p hello",
  );
  examples(
    serving("record", "Forward requests to the real service and record them without secrets.")
      .argument("<file>", "new .jsonl file")
      .option("--upstream <url>", "URL of the service (default: the one that the client names)")
      .action(runner(record)),
    "tandem rehearse record run.jsonl",
  );
  examples(
    serving("replay", "Replay a recording.")
      .argument("<file>", ".jsonl file from `tandem rehearse record`")
      .action(runner(replay)),
    "tandem rehearse replay run.jsonl --port 8080",
  );
  examples(
    command
      .command("check")
      .description("Check that a recording has the types of the installed Anthropic SDK.")
      .helpOption("-h, --help", "print help")
      .argument("<file>", ".jsonl file from `tandem rehearse record`")
      .addOption(json())
      .action(runner(check)),
    "tandem rehearse check run.jsonl",
  );
}

export interface RehearseOptions {
  port?: string;
  proxy?: boolean;
}

/** Common part of the three subcommands: a server that runs until Ctrl-C. */
interface Server extends AsyncDisposable {
  url: string;
  proxy: { variables: Record<string, string> };
}

export async function serve(invocation: Invocation, file: string, options: RehearseOptions): Promise<void> {
  const { loadScript, startRehearsal } = await import("@tandem/rehearsal");
  const script = await loadScript(resolve(invocation.cwd, file));
  await using rehearsal = await startRehearsal(script, { ...toLoopback(options), log: logTo(invocation) });
  await untilInterrupted(invocation, `Rehearsing ${basename(file)}`, rehearsal, options);
  await summarise(invocation, { misses: rehearsal.misses.map(({ message }) => message), unused: rehearsal.unused });
}

export async function replay(invocation: Invocation, file: string, options: RehearseOptions): Promise<void> {
  const { replayScript, startRehearsal } = await import("@tandem/rehearsal");
  const script = replayScript(resolve(invocation.cwd, file));
  await using rehearsal = await startRehearsal(script, { ...toLoopback(options), log: logTo(invocation) });
  await untilInterrupted(invocation, `Replaying ${basename(file)}`, rehearsal, options);
  await summarise(invocation, { misses: rehearsal.misses.map(({ message }) => message), unused: rehearsal.unused });
}

export async function record(
  invocation: Invocation,
  file: string,
  options: RehearseOptions & { upstream?: string },
): Promise<void> {
  const { startRecording } = await import("@tandem/rehearsal");
  await using recording = await startRecording({
    ...toLoopback(options),
    file: resolve(invocation.cwd, file),
    upstream: options.upstream,
    log: logTo(invocation),
  });
  await untilInterrupted(invocation, `Recording to ${basename(file)}`, recording, options, "own");
  await recording.close();
  const { stdout, json } = invocation;
  const { count } = recording;
  await write(stdout, json ? `${JSON.stringify({ recorded: count })}\n` : `${count} model requests recorded.\n`);
}

/** Returns the exit code 1 if something does not match. */
export async function check(invocation: Invocation, file: string): Promise<number> {
  const { checkRecording } = await import("@tandem/rehearsal");
  const { cwd, stdout, json } = invocation;
  const result = await checkRecording(resolve(cwd, file), cwd);
  const { checked, sdk, mismatches } = result;
  const code = mismatches.length === 0 ? 0 : 1;
  if (json) {
    await write(stdout, `${JSON.stringify(result)}\n`);
    return code;
  }
  const { bad, good } = styleFor(stdout);
  const rows = mismatches.map(({ exchange, part, problem }) => [bad(`exchange ${exchange}, ${part}`), problem]);
  const summary =
    rows.length === 0
      ? good(`All exchanges (${checked}) match the types of @anthropic-ai/sdk ${sdk}.`)
      : bad(`Not all exchanges (${checked}) match the types of @anthropic-ai/sdk ${sdk}.`);
  await write(stdout, `${[...table(rows), summary].join("\n")}\n`);
  return code;
}

/** Prints how to connect and waits for Ctrl-C. */
async function untilInterrupted(
  invocation: Invocation,
  title: string,
  server: Server,
  options: RehearseOptions,
  keyNeeded: "any" | "own" = "any",
): Promise<void> {
  const { stdout, json, signal } = invocation;
  const variables = {
    ANTHROPIC_BASE_URL: server.url,
    // The rehearsal accepts any key, but most clients send no request without one. A recording needs the user's own key.
    ...(keyNeeded === "any" && { ANTHROPIC_API_KEY: "rehearsal" }),
  };
  const proxied = options.proxy ? server.proxy.variables : {};
  if (json) {
    await write(stdout, `${JSON.stringify({ url: server.url, variables, proxy: proxied })}\n`);
  } else {
    const { bold, dim } = styleFor(stdout);
    const lines = (values: Record<string, string>) =>
      Object.entries(values).map(([name, value]) => `  export ${name}=${value}`);
    const byProxy = options.proxy ? ["", dim("Or, for clients that need the real host names:"), ...lines(proxied)] : [];
    await write(
      stdout,
      [`${bold(title)} at ${server.url}`, "", ...lines(variables), ...byProxy, "", dim("Stop with Ctrl-C."), ""].join(
        "\n",
      ),
    );
  }
  if (!signal.aborted) await once(signal, "abort");
}

async function summarise(
  { stdout, json }: Invocation,
  result: { misses: readonly string[]; unused: readonly string[] },
): Promise<void> {
  if (json) {
    await write(stdout, `${JSON.stringify(result)}\n`);
    return;
  }
  const { bad, warn } = styleFor(stdout);
  const rows = [
    ...result.misses.map((miss) => [bad("no reply"), miss]),
    ...result.unused.map((entry) => [warn("not requested"), entry]),
  ];
  if (rows.length > 0) await write(stdout, `${table(rows).join("\n")}\n`);
}

const logTo =
  ({ stderr, json }: Invocation) =>
  (line: string) => {
    stderr.write(json ? `${JSON.stringify({ log: line })}\n` : `${styleFor(stderr).dim(line)}\n`);
  };

function toLoopback({ port, proxy }: RehearseOptions): { port?: number; proxy?: boolean } {
  return port === undefined ? { proxy } : { port: toPort(port), proxy };
}
