import type { SERVERS } from "../lab-machines.ts";
import { type CheckContext, expectThat, headersOf, urlOf } from "./lab-check.ts";

export type Server = (typeof SERVERS)[number] | "haproxy";

const VERSION = "2025-06-18";
const PARAMS = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "lab", version: "1" } };

/** MCP over HTTP, request by request: each can go to another server. */
export class McpClient {
  readonly #context: CheckContext;
  #id: string | undefined;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  async begin(server: Server): Promise<void> {
    this.#id = undefined;
    const begun = await this.#send(server, { id: 1, method: "initialize", params: PARAMS });
    this.#id = begun.headers.get("mcp-session-id") ?? undefined;
    const answer = await begun.text();
    expectThat(begun.status === 200 && this.#id !== undefined, `initialize answered ${begun.status}: ${answer}`);
    await (await this.#send(server, { method: "notifications/initialized" })).text();
  }

  async listTools(server: Server): Promise<void> {
    const { status, text } = await this.askForTools(server);
    expectThat(status === 200 && text.includes("table_describe"), `${server} answered ${status}: ${text}`);
  }

  async askForTools(server: Server): Promise<{ status: number; text: string }> {
    const answer = await this.#send(server, { id: 2, method: "tools/list", params: {} });
    return { status: answer.status, text: await answer.text() };
  }

  #send(server: Server, body: object): Promise<Response> {
    const own = this.#id !== undefined && { "mcp-session-id": this.#id, "mcp-protocol-version": VERSION };
    return fetch(`${urlOf(server)}/mcp`, {
      method: "POST",
      headers: { ...headersOf(this.#context), accept: "application/json, text/event-stream", ...own },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  }
}
