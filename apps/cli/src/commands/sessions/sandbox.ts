import { resolve } from "node:path";
import { hostPatternProblem, TandemError, type RefusedHost, type SandboxHost } from "@tandem/protocol";
import { readSandboxState, describeSandbox } from "@tandem/tandem/health";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { findSession } from "../../sessions/find-session.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { asCalled } from "../../called-as.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, table, writeResult, type Style } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

const open = clientFor("tandem sandbox");

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const ofSession = (self: Command, what: string) =>
    self.option("--session <id>", `${what}, by id; \`last\` is the newest`);
  examples(
    sub("status", "Show whether sessions run in a sandbox, and what it covers.")
      .addOption(json())
      .action(runner(status)),
    "tandem sandbox status",
  );
  examples(
    ofSession(sub("hosts", "List refused and allowed hosts."), "only those of this session")
      .addOption(json())
      .action(runner(hosts)),
    "tandem sandbox hosts",
    "tandem sandbox hosts --session last",
  );
  examples(
    ofSession(
      sub("allow", "Allow a host in a folder or for a session. It counts for the next connection.")
        .argument("<host>", "host: example.com, *.example.com or example.com:8443")
        .option("--folder <dir>", "folder whose sessions may connect (default: this folder)")
        .option("--once", "with --session: for the next five minutes only"),
      "allow it for this session only",
    )
      .addOption(json())
      .action(runner(allow)),
    "tandem sandbox allow api.example.com",
    "tandem sandbox allow api.example.com --session last",
    "tandem sandbox allow api.example.com --session last --once",
  );
  examples(
    sub("revoke", "Revoke allowed hosts.")
      .argument("<id...>", "ids of `tandem sandbox hosts`")
      .addOption(json())
      .action(runner(revoke)),
    "tandem sandbox revoke sbxhost_0a1b2c",
  );
}

interface HostFlags {
  session?: string;
}

interface AllowFlags extends HostFlags {
  folder?: string;
  once?: boolean;
}

async function status(invocation: Invocation): Promise<void> {
  const overview = await readSandboxState(invocation, await openProjectOrDefaults(invocation));
  const { dim, good, warn } = styleFor(invocation.stdout);
  const { on, mode, reason, fix } = overview;
  const rows = [
    [dim("sandbox"), on ? good("on") : warn("off"), dim(printable(reason ?? ""))],
    [dim("mode"), mode],
    ...describeSandbox(overview).map((line) => {
      const colon = line.indexOf(": ");
      return [dim(line.slice(0, colon)), printable(line.slice(colon + 2))];
    }),
    ...(fix === undefined ? [] : [[dim("fix"), asCalled(printable(fix))]]),
  ];
  await writeResult(invocation, overview, table(rows));
}

async function hosts(invocation: Invocation, flags: HostFlags): Promise<void> {
  await using client = await open(invocation);
  const session = flags.session === undefined ? undefined : await findSession(client, flags.session, invocation);
  const found = await client.sandboxHosts.list(session?.id);
  const style = styleFor(invocation.stdout);
  const rows = [
    ...found.refused.map((host) => refusedRow(host, style)),
    ...found.data.map((host) => allowedRow(host, style)),
  ];
  const [first] = found.refused;
  const next = first ? [`${style.dim("→")} ${asCalled(`tandem sandbox allow ${printable(first.host)}`)}`] : [];
  const none = style.dim("No host was refused, and none is allowed beyond tandem.yaml.");
  const value = { allowed: found.data, refused: found.refused };
  await writeResult(invocation, value, rows.length > 0 ? [...table(rows), ...next] : [none]);
}

async function allow(
  invocation: Invocation,
  host: string,
  { folder, session: named, once }: AllowFlags,
): Promise<void> {
  if (folder !== undefined && named !== undefined) {
    throw new TandemError("usage", "--folder and --session exclude each other.");
  }
  if (once && named === undefined) {
    throw new TandemError("usage", "--once needs --session.", { fix: "Name the session, such as --session last." });
  }
  const problem = hostPatternProblem(host);
  if (problem !== undefined) throw new TandemError("usage", `${JSON.stringify(host)} cannot be allowed: ${problem}.`);
  await using client = await open(invocation);
  const session = named === undefined ? undefined : await findSession(client, named, invocation);
  const grant = await client.sandboxHosts.allow({
    host,
    by: localActor(),
    ...(session
      ? { scope: once ? "once" : "session", session: session.id }
      : { scope: "folder", folder: resolve(invocation.cwd, folder ?? ".") }),
  });
  await writeResult(invocation, { host: grant }, table([allowedRow(grant, styleFor(invocation.stdout))]));
}

async function revoke(invocation: Invocation, ids: readonly string[]): Promise<void> {
  await using client = await open(invocation);
  for (const id of ids) await client.sandboxHosts.revoke(id, localActor());
  const said = ids.length === 1 ? "The host is no longer allowed." : `${ids.length} hosts are no longer allowed.`;
  await writeResult(invocation, { revoked: ids }, [said]);
}

const refusedRow = ({ host, count, folder, session_id, last_at }: RefusedHost, { bad, bold, dim }: Style): string[] => [
  bad("refused"),
  bold(printable(host)),
  printable(folder),
  dim(`${count} ×, ${ago(last_at)}`),
  dim(session_id),
];

const allowedRow = ({ host, scope, of, by, id, expires_at }: SandboxHost, { good, bold, dim }: Style): string[] => [
  good("allowed"),
  bold(printable(host)),
  printable(scope === "folder" ? of : `session ${of}`),
  dim(`by ${printable(by)}${expires_at === undefined ? "" : `, until ${new Date(expires_at).toLocaleTimeString()}`}`),
  dim(id),
];
