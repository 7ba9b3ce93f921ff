import type { McpServerStatus } from "@anthropic-ai/claude-agent-sdk";
import type { ConversationSetup } from "./conversation.ts";
import type { ToolNames } from "./translate/calls.ts";
import type { McpState } from "./translate/incidents.ts";

/** Tells MCP servers that Claude Code connects to from those that Tandem serves, and notices when their states change. */
export class RemoteServers {
  readonly #own: ReadonlySet<string>;
  #known = "[]";

  constructor(
    { hostServers = [], connectedServers = [] }: ConversationSetup,
    { customServer, workerServer }: ToolNames,
  ) {
    this.#own = new Set([
      customServer,
      ...(workerServer === undefined ? [] : [workerServer]),
      ...[...hostServers, ...connectedServers].map(({ name }) => name),
    ]);
  }

  hasChanged(servers: readonly { name: string; status: string }[]): boolean {
    const remote = servers.filter(({ name }) => !this.#own.has(name));
    const states = JSON.stringify(remote.map(({ name, status }) => [name, status]));
    if (remote.length === 0 || states === this.#known) return false;
    this.#known = states;
    return true;
  }

  remote(states: readonly McpServerStatus[]): McpState[] {
    return states
      .filter(({ name }) => !this.#own.has(name))
      .map(({ name, status, error }) => ({ name, status, ...(error !== undefined && { error }) }));
  }
}
