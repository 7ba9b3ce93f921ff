import { TandemError, type KnownMcpServer } from "@tandem/protocol";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { userName } from "@tandem/tandem/project";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, widthOf, wrap, write, writeResult, writeTable, type Style } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function registerServers(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[server]", "one server, by id or name, with its tools in full")
      .addOption(json())
      .action(runner(servers)),
    "tandem mcp servers",
    "tandem mcp servers github",
  );
}

export function registerAccept(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("<server>", "id or name of the server")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(accept)),
    "tandem mcp accept github",
  );
}

const open = clientFor("tandem mcp");
const WIDEST = 100;

/** Lists the MCP servers seen by sessions, or shows one with its tools. */
export async function servers(invocation: Invocation, id: string | undefined): Promise<void> {
  await using client = await open(invocation);
  if (id !== undefined) {
    const server = await find(client, id);
    return writeResult(
      invocation,
      server,
      describe(server, styleFor(invocation.stdout), Math.min(widthOf(invocation.stdout), WIDEST)),
    );
  }
  const all = await client.mcpServers.list();
  const { dim, good, warn } = styleFor(invocation.stdout);
  const rows = all.map(({ id, name, origin, tools, changes, accepted }) => [
    dim(id),
    printable(name),
    printable(origin),
    `${tools.length} tools`,
    changes.length > 0 ? warn("changed: calls need approval") : good("accepted"),
    dim(ago(accepted.at)),
  ]);
  await writeTable(invocation, { servers: all }, rows, "No session has used an MCP server yet.");
}

/** Accepts a server's current definition after showing it. */
export async function accept(invocation: Invocation, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  await using client = await open(invocation);
  const server = await find(client, id);
  const { stdout, json } = invocation;
  const style = styleFor(stdout);
  if (!json) await write(stdout, `${describe(server, style, Math.min(widthOf(stdout), WIDEST)).join("\n")}\n`);
  if (server.changes.length > 0 && !yes)
    await confirm(invocation, "", `Accept the current tools of ${printable(server.name)}?`);
  const accepted = await client.mcpServers.accept(server.id, server.hash, userName());
  await writeResult(invocation, accepted, [style.good("Accepted.")]);
}

async function find(client: SessionsClient, id: string): Promise<KnownMcpServer> {
  if (id.startsWith("mcps_")) return client.mcpServers.get(id);
  const named = (await client.mcpServers.list()).filter(({ name }) => name === id);
  if (named.length === 1) return named[0]!;
  throw new TandemError("usage", `There ${named.length === 0 ? "is no" : "is more than one"} MCP server ${id}.`, {
    fix: "List the servers and their ids with `tandem mcp servers`.",
  });
}

function describe(server: KnownMcpServer, { bold, dim, warn }: Style, width: number): string[] {
  const { id, name, origin, tools, changes, hash, accepted } = server;
  const inner = width - 4;
  return [
    `${bold(printable(name))}  ${printable(origin)}  ${dim(id)}`,
    dim(`accepted ${ago(accepted.at)} (${printable(accepted.by)}), ${hash.slice(0, 12)}`),
    ...changes.flatMap((change) => wrap(`changed: ${printable(change)}`, inner).map((line) => warn(`  ${line}`))),
    ...tools.flatMap((tool) => [
      "",
      `  ${bold(printable(tool.name))}`,
      ...wrap(printable(tool.description ?? "(no description)"), inner).map((line) => `    ${line}`),
      ...wrap(printable(JSON.stringify(tool.inputSchema)), inner).map((line) => dim(`    ${line}`)),
      ...(tool.annotations
        ? wrap(printable(JSON.stringify(tool.annotations)), inner).map((line) => dim(`    ${line}`))
        : []),
    ]),
  ];
}
