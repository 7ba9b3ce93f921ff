import { join } from "node:path";
import type { ConnectedServer, Decision, McpConnection } from "@tandem/claude-code";
import { TandemError, type SessionEventBody } from "@tandem/protocol";
import type { ToolDefinitions, Judged } from "./tool-definitions.ts";
import type { ProgramSandbox } from "../sandbox/program-sandbox.ts";
import { inSandbox, isLocal, type LocalServer } from "./server-sandbox.ts";
import type { SessionMcpServer } from "./session-mcp-server.ts";

interface Around {
  definitions: ToolDefinitions;
  stateFolder: string;
  hostVariables: Readonly<Record<string, string | undefined>>;
  connectMs: number;
  callMs: number;
  /** The sandbox of a local server; undefined if it runs without one. */
  openSandbox: (server: LocalServer) => Promise<ProgramSandbox | undefined>;
  /** A connected server refuses its token. Called once for each server. */
  onLoginFailed: (event: SessionEventBody) => void;
}

interface Open {
  origin: string;
  connection: McpConnection;
  /** Closed after the connection. */
  sandbox: AsyncDisposable;
  judged: Judged;
}

/** A server that failed, with the reason. */
export interface FailedServer {
  name: string;
  error: string;
  /** The server answered 401 or 403. */
  needsLogin: boolean;
}

/** The MCP servers of one conversation, connected for it and closed with it. */
export class SessionServers implements AsyncDisposable {
  readonly #open = new Map<string, Open>();
  readonly #around: Around;
  readonly #stopListening: () => void;
  readonly #refusedLogins = new Set<string>();
  readonly failed: FailedServer[] = [];
  readonly connected: ConnectedServer[] = [];

  private constructor(around: Around) {
    this.#around = around;
    this.#stopListening = around.definitions.onAccepted((id) => {
      for (const [name, open] of this.#open) if (open.judged.id === id) void this.#lookAgain(name);
    });
  }

  /** If `wanted` rejects, that is the server's error. */
  static async open(
    wanted: readonly { name: string; server: Promise<SessionMcpServer> }[],
    around: Around,
  ): Promise<SessionServers> {
    const servers = new SessionServers(around);
    await Promise.all(wanted.map((one) => servers.#connect(one.name, one.server)));
    // In the configured order, whichever connected first.
    const order = new Map(wanted.map(({ name }, index) => [name, index]));
    servers.connected.sort((a, b) => order.get(a.name)! - order.get(b.name)!);
    return servers;
  }

  /** Their connection states, for the log. */
  get events(): SessionEventBody[] {
    if (this.connected.length + this.failed.length === 0) return [];
    const servers = [
      ...this.connected.map(({ name }) => ({ name, status: "connected" })),
      ...this.failed.map(({ name, error, needsLogin }) => ({
        name,
        status: needsLogin ? "needs-auth" : "failed",
        error,
      })),
    ];
    return [{ type: "tandem.mcp_status", servers }, ...this.failed.map(errorEvent)];
  }

  /** Calls of a server whose definitions differ from the accepted ones ask, whatever else allows them. */
  decide(call: { mcpServer?: string }, decision: Decision): Decision {
    const open = this.#open.get(call.mcpServer ?? "");
    if (!open || open.judged.changes.length === 0 || decision.permission === "deny") return decision;
    // A person approved exactly this call.
    if (decision.verdict?.by === "grant") return decision;
    const why =
      `The tools of the MCP server ${call.mcpServer} changed since they were accepted: ${open.judged.changes.join("; ")}. ` +
      `Its calls need approval until the change is accepted (tandem mcp accept ${open.judged.id}).`;
    return {
      permission: "ask",
      evaluation: { type: "always_ask" },
      verdict: { action: "ask", by: "caution", why },
      approval: decision.approval ?? { kind: "tool", expires_at: null },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(
      open.map(async ({ connection, sandbox }) => {
        await connection[Symbol.asyncDispose]();
        await sandbox[Symbol.asyncDispose]();
      }),
    );
  }

  async #connect(name: string, wanted: Promise<SessionMcpServer>): Promise<void> {
    const { definitions, connectMs, stateFolder, hostVariables } = this.#around;
    try {
      const server = await wanted;
      const { origin, timeoutMs = this.#around.callMs } = server;
      await using opened = new AsyncDisposableStack();
      const sandbox = isLocal(server) ? opened.use(await this.#around.openSandbox(server)) : undefined;
      const { connectServer, isUnauthorized, ProcessLedger } = await import("@tandem/claude-code");
      const connection = await connectServer(sandbox ? inSandbox(server, sandbox) : server.endpoint, {
        connectMs,
        hostVariables,
        callMs: timeoutMs,
        ledger: new ProcessLedger(join(stateFolder, "processes")),
        onToolsChanged: () => void this.#lookAgain(name),
      });
      try {
        const judged = await definitions.judge({ name, origin }, await connection.tools());
        this.#open.set(name, { origin, connection, judged, sandbox: opened.move() });
        const call: ConnectedServer["call"] = (tool, input, signal) =>
          connection.call(tool, input, signal).catch((error: unknown) => {
            if (isUnauthorized(error)) this.#reportLogin(name, error);
            throw error;
          });
        this.connected.push({ name, tools: judged.tools, timeoutMs, call });
      } catch (error) {
        await connection[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      const { isUnauthorized } = await import("@tandem/claude-code");
      const message = error instanceof Error ? error.message : String(error);
      const fix = error instanceof TandemError && error.fix ? ` ${error.fix}` : "";
      this.failed.push({ name, error: message + fix, needsLogin: isUnauthorized(error) });
    }
  }

  #reportLogin(name: string, error: unknown): void {
    if (this.#refusedLogins.has(name)) return;
    this.#refusedLogins.add(name);
    const message = error instanceof Error ? error.message : String(error);
    this.#around.onLoginFailed(errorEvent({ name, error: message, needsLogin: true }));
  }

  /** Reads the current definitions. A server that cannot be reached counts as changed. */
  async #lookAgain(name: string): Promise<void> {
    const open = this.#open.get(name);
    if (!open) return;
    const { origin } = open;
    // Until the change is known, assume one.
    const before = open.judged;
    open.judged = { ...before, changes: before.changes.length > 0 ? before.changes : ["its tools just changed"] };
    try {
      open.judged = await this.#around.definitions.judge({ name, origin }, await open.connection.tools());
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      open.judged = { ...before, changes: [`its tools changed and cannot be read: ${why}`] };
    }
  }
}

const errorEvent = ({ name, error, needsLogin }: FailedServer): SessionEventBody => ({
  type: "session.error",
  error: {
    type: needsLogin ? "mcp_authentication_failed_error" : "mcp_connection_failed_error",
    message: `The MCP server ${name} cannot be used: ${error}`,
    retry_status: { type: "exhausted" },
    mcp_server_name: name,
  },
});
