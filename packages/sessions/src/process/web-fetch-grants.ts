import type { ConversationOutput, ToolCallRequest } from "@tandem/claude-code";

/** Lets an approved `WebFetch` reach the host of its address through the sandbox's proxy, until the call has a result. */
export class WebFetchGrants {
  readonly #allowHost: (host: string) => Disposable;
  readonly #running = new Map<string, Disposable>();

  constructor(allowHost: (host: string) => Disposable) {
    this.#allowHost = allowHost;
  }

  /** The call is allowed with this input. */
  start({ eventId, name, mcpServer, input }: Pick<ToolCallRequest, "eventId" | "name" | "mcpServer" | "input">): void {
    const url = typeof input["url"] === "string" ? URL.parse(input["url"]) : null;
    if (mcpServer !== undefined || name !== "WebFetch" || !url?.hostname) return;
    this.#end(eventId);
    try {
      this.#running.set(eventId, this.#allowHost(url.port ? url.host : url.hostname));
    } catch {
      // Not the name of a public host, such as an IP address: the proxy refuses it.
    }
  }

  observe(output: ConversationOutput): void {
    if (output.type === "event" && output.event.type === "agent.tool_result") this.#end(output.event.tool_use_id);
    if (output.type === "turn_ended") for (const id of this.#running.keys()) this.#end(id);
  }

  #end(id: string): void {
    this.#running.get(id)?.[Symbol.dispose]();
    this.#running.delete(id);
  }
}
