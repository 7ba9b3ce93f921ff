import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { isInside } from "@tandem/workspace";
import type { z } from "zod";
import { openServerSandbox, type LocalServer, type ServerSandboxSettings } from "../mcp/server-sandbox.ts";
import type { FoundServer } from "./find-servers.ts";
import { configurationItems, diagnosticReport, initializeResult, publishedDiagnostics } from "./lsp-shapes.ts";
import { OpenDocuments, uriOf, type Limit } from "./open-documents.ts";
import { RpcConnection } from "./rpc-connection.ts";

const INIT_MS = 60_000;
/** Time to end by itself after it was asked to. */
const SHUTDOWN_MS = 1_000;
const STDERR_TAIL = 1_000;

export type LanguageServerSettings = Omit<ServerSandboxSettings, "openHosts">;

/** A running language server of a folder. It has the folder to read, a home of its own, and no network where there is a sandbox. */
export class LanguageServer {
  readonly name: string;
  readonly documents: OpenDocuments;
  readonly #connection: RpcConnection;
  readonly #end: () => Promise<void>;
  #endedBecause: string | undefined;

  private constructor(name: string, connection: RpcConnection, documents: OpenDocuments, end: () => Promise<void>) {
    this.name = name;
    this.#connection = connection;
    this.documents = documents;
    this.#end = end;
  }

  /** Rejects if it cannot be started, or does not answer in time; nothing of it runs then. */
  static async start(folder: string, found: FoundServer, settings: LanguageServerSettings): Promise<LanguageServer> {
    await using opened = new AsyncDisposableStack();
    const { OwnedProcess, ProcessLedger, inheritedVariables, sandboxedVariables } = await import("@tandem/claude-code");
    const place = { id: "", folder, environmentId: "" };
    const local = await asLocalServer(folder, found, settings);
    const sandbox = opened.use(await openServerSandbox(local, place, settings, () => undefined));
    const { hostVariables } = settings;
    const owned = new OwnedProcess(new ProcessLedger(join(settings.stateFolder, "processes")), {
      command: found.command,
      args: found.args,
      cwd: folder,
      env: {
        ...(sandbox ? sandboxedVariables(hostVariables) : inheritedVariables(hostVariables)),
        ...sandbox?.variables,
      },
      sandbox: sandbox?.plan,
      yields: true,
    });
    opened.defer(async () => {
      owned.kill();
      await owned.gone;
    });
    const child = owned.process;
    let stderr = "";
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr = (stderr + chunk).slice(-STDERR_TAIL)));
    let documents: OpenDocuments | undefined;
    const connection = new RpcConnection(child.stdin, {
      onNotification: (method, params) => {
        const published = method === "textDocument/publishDiagnostics" && publishedDiagnostics.safeParse(params).data;
        if (published) documents?.publish(published);
      },
      answer: (method, params) => answerServer(method, params, folder, found),
    });
    let fault: Error | undefined;
    child.on("error", (error) => (fault ??= error));
    child.stdout.on("data", (chunk: Buffer) => {
      try {
        connection.receive(chunk);
      } catch (error) {
        fault ??= error instanceof Error ? error : new Error(String(error));
        owned.kill();
      }
    });
    let server: LanguageServer | undefined;
    void owned.gone.finally(() => {
      const how = fault?.message ?? `it ended with ${owned.endedBy ?? `exit code ${child.exitCode}`}`;
      const tail = stderr.trim().replace(/\s*\n\s*/g, " | ");
      const reason = `${how}${tail ? ` (stderr: ${tail})` : ""}`;
      if (server) server.#endedBecause = reason;
      connection.close(new Error(reason));
    });
    const limit = { ms: INIT_MS };
    const { capabilities } = initializeResult.parse(
      await connection.request("initialize", initializeParams(folder, found), limit),
    );
    documents = new OpenDocuments({
      folder,
      languages: found.languages,
      notify: (method, params) => connection.notify(method, params),
      pull: capabilities.diagnosticProvider
        ? async (uri, within) =>
            diagnosticReport.parse(
              await connection.request("textDocument/diagnostic", { textDocument: { uri } }, within),
            )
        : undefined,
    });
    await documents.begin();
    connection.notify("initialized", {});
    const all = opened.move();
    server = new LanguageServer(found.name, connection, documents, () => all.disposeAsync());
    return server;
  }

  /** Why it has ended; undefined while it runs. */
  get endedBecause(): string | undefined {
    return this.#endedBecause;
  }

  async request<T extends z.ZodType>(method: string, params: unknown, shape: T, limit: Limit): Promise<z.output<T>> {
    return shape.parse(await this.#connection.request(method, params, limit));
  }

  /** Ends it, with everything that it has started. */
  async close(): Promise<void> {
    const limit = { ms: SHUTDOWN_MS };
    await this.#connection.request("shutdown", undefined, limit).catch(() => undefined);
    this.#connection.notify("exit", undefined);
    await this.#end();
  }
}

async function asLocalServer(
  folder: string,
  { name, command, args }: FoundServer,
  settings: LanguageServerSettings,
): Promise<LocalServer> {
  // The sandbox shows the folder with its links, and so needs only the programs that they lead to.
  const shown = isInside(folder, command) ? await realpath(command) : command;
  return {
    name,
    origin: `lsp:${name}`,
    endpoint: { type: "stdio", command: shown, args, variables: {}, folder },
    confinement: {
      type: "sandbox",
      folder: "read",
      hosts: [],
      // As the session sees them, such as a toolchain that is elsewhere.
      mounts: (settings.sandbox?.mounts ?? []).map(({ path }) => ({ path, write: false })),
      seesCommand: true,
    },
  };
}

const initializeParams = (folder: string, { options }: FoundServer) => ({
  // Its own pid namespace does not have ours. A server that watched it would end at once.
  processId: null,
  clientInfo: { name: "tandem" },
  rootPath: folder,
  rootUri: uriOf(folder),
  workspaceFolders: [{ uri: uriOf(folder), name: "folder" }],
  ...(options && { initializationOptions: options }),
  capabilities: {
    general: { positionEncodings: ["utf-16"] },
    textDocument: {
      synchronization: {},
      publishDiagnostics: { versionSupport: true },
      diagnostic: { dynamicRegistration: false },
      hover: { contentFormat: ["markdown", "plaintext"] },
      definition: { linkSupport: true },
      references: {},
      documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    },
    workspace: {
      workspaceFolders: true,
      configuration: true,
      symbol: {},
      didChangeWatchedFiles: { dynamicRegistration: true },
    },
  },
});

/** Language servers ask for settings and subscribe to changes. They may change nothing. */
function answerServer(method: string, params: unknown, folder: string, { settings }: FoundServer): unknown {
  switch (method) {
    case "workspace/configuration": {
      const { items } = configurationItems.parse(params);
      return items.map(({ section }) => settings[section ?? ""] ?? null);
    }
    case "workspace/workspaceFolders":
      return [{ uri: uriOf(folder), name: "folder" }];
    case "workspace/applyEdit":
      return { applied: false };
    case "client/registerCapability":
    case "client/unregisterCapability":
    case "window/workDoneProgress/create":
    case "window/showMessageRequest":
      return null;
    default:
      return undefined;
  }
}

/** The error of a tool for a failed server. */
export const serverFailed = (name: string, reason: string, fix: string): RequestError =>
  new RequestError("unavailable", `The language server ${name} failed: ${reason.replace(/\.$/, "")}.`, { fix });
