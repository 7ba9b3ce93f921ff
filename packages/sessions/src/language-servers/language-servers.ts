import type { HostServer } from "@tandem/claude-code";
import type { SessionRules } from "@tandem/policy";
import type { SessionRow } from "@tandem/storage";
import { Timer } from "../host/timer.ts";
import type { HostSettings } from "../host/host-settings.ts";
import type { McpSettings } from "../mcp/mcp-settings.ts";
import type { Rules } from "../rules/kept-rules.ts";
import { canRead } from "../skills/agent-skills.ts";
import type { TrustSettings } from "../trust/folder-trust.ts";
import { trustedParts } from "../trust/trusted-parts.ts";
import { findServers, serverFor, type FoundServer } from "./find-servers.ts";
import { LanguageServer, serverFailed, type LanguageServerSettings } from "./language-server.ts";
import type { LspSettings } from "./lsp-settings.ts";
import { diagnoseEdit } from "./diagnose-edit.ts";
import { LSP_SERVER, lspServer } from "./lsp-server.ts";
import type { SessionLanguages } from "../mcp/session-languages.ts";

/** How long the servers found for a folder are remembered. */
const FOUND_MS = 60_000;
/** A server that failed so often within this time is not started again before it is over. */
const MAX_FAILURES = 3;
const FAILURES_MS = 10 * 60 * 1_000;
/** Maximum number per engine. One uses some hundred megabytes. */
const MAX_RUNNING = 8;

interface Entry {
  folder: string;
  name: string;
  starting: Promise<LanguageServer> | undefined;
  /** Once it has started. */
  server: LanguageServer | undefined;
  /** Questions that it is answering. */
  active: number;
  usedAt: number;
  failures: { at: number; reason: string }[];
  idle: Timer;
}

type LanguageSettings = LanguageServerSettings &
  Pick<HostSettings, "clock"> &
  Pick<McpSettings, "mcpTimeout" | "sessionServers"> &
  Pick<TrustSettings, "trustOf">;

interface LanguageServersDependencies {
  settings: LanguageSettings & Required<LspSettings>;
  rulesOf: (row: SessionRow) => Promise<SessionRules>;
}

/**
 * The language servers of all sessions of an engine. One serves all sessions of its folder: it starts with the first question, and
 * ends with the last process of the folder's sessions, or after some time without questions.
 */
export class LanguageServers implements SessionLanguages {
  readonly #settings: LanguageServersDependencies["settings"];
  readonly #rulesOf: LanguageServersDependencies["rulesOf"];
  readonly #entries = new Map<string, Entry>();
  /** Processes of sessions, by folder. */
  readonly #holds = new Map<string, number>();
  readonly #found = new Map<string, { at: number; servers: Promise<FoundServer[]> }>();

  constructor({ settings, rulesOf }: LanguageServersDependencies) {
    this.#settings = settings;
    this.#rulesOf = rulesOf;
  }

  async toolsFor(row: SessionRow): Promise<HostServer | undefined> {
    if (row.selfHosted || !canRead(row.agent.tools)) return undefined;
    const trust = await this.#settings.trustOf?.(row.folder);
    if (!trust?.trusted) return undefined;
    const { sessionServers } = this.#settings;
    const ofFolder = trust.config ? Object.keys(trustedParts(trust.config).servers) : [];
    const ofClient = sessionServers?.(row.id).map(({ name }) => name) ?? [];
    // A server of this name that the client or the folder brings takes precedence, as one of the agent does.
    if ([...ofFolder, ...ofClient].includes(LSP_SERVER)) return undefined;
    const servers = await this.#find(row.folder);
    if (servers.length === 0) return undefined;
    return lspServer(servers, {
      folder: row.folder,
      timeoutMs: this.#settings.mcpTimeout,
      use: (server, work) => this.#use(row.folder, server, work),
      mayShow: async () => {
        const sessionRules = await this.#rulesOf(row);
        return (path) => {
          const verdict = sessionRules.judge({ name: "Read", input: { file_path: path }, thread: null });
          return verdict === undefined || verdict.action === "allow";
        };
      },
    });
  }

  hold(folder: string): AsyncDisposable {
    this.#holds.set(folder, (this.#holds.get(folder) ?? 0) + 1);
    return {
      [Symbol.asyncDispose]: async () => {
        const left = (this.#holds.get(folder) ?? 1) - 1;
        if (left > 0) return void this.#holds.set(folder, left);
        this.#holds.delete(folder);
        await this.#endAll((entry) => entry.folder === folder);
      },
    };
  }

  diagnoseEdit(
    ...[folder, write]: Parameters<SessionLanguages["diagnoseEdit"]>
  ): ReturnType<SessionLanguages["diagnoseEdit"]> {
    return diagnoseEdit(folder, this, write, this.#settings.lsp.editMs);
  }

  /** Calls `work` with the server for this file, if it runs already. */
  async ifRunning<T>(
    folder: string,
    path: string,
    work: (server: LanguageServer) => Promise<T>,
  ): Promise<T | undefined> {
    const found = serverFor((await this.#found.get(folder)?.servers) ?? [], path);
    const server = found && this.#entries.get(keyOf(folder, found.name))?.server;
    return server && server.endedBecause === undefined ? this.#use(folder, found, work) : undefined;
  }

  async stop(): Promise<void> {
    await this.#endAll(() => true);
  }

  async #find(folder: string): Promise<FoundServer[]> {
    const { clock, lsp, hostVariables } = this.#settings;
    const known = this.#found.get(folder);
    if (known && clock.monotonic() - known.at < FOUND_MS) return known.servers;
    const servers = findServers(folder, { path: hostVariables["PATH"] ?? "", configured: lsp.servers });
    this.#found.set(folder, { at: clock.monotonic(), servers });
    return servers;
  }

  async #use<T>(folder: string, found: FoundServer, work: (server: LanguageServer) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(folder, found.name);
    entry.active += 1;
    entry.idle.clear();
    try {
      const server = await this.#running(entry, found);
      try {
        return await work(server);
      } catch (error) {
        if (server.endedBecause === undefined) throw error;
        throw serverFailed(found.name, server.endedBecause, "The next question starts it again.");
      }
    } finally {
      const { clock, lsp } = this.#settings;
      entry.active -= 1;
      entry.usedAt = clock.monotonic();
      if (entry.active === 0) entry.idle.set(lsp.idleMs, () => void this.#end(entry));
    }
  }

  /** Synchronous up to the start, so that questions at the same time share it. */
  #running(entry: Entry, found: FoundServer): Promise<LanguageServer> {
    const { clock } = this.#settings;
    const ended = entry.server?.endedBecause;
    if (ended !== undefined) {
      entry.failures.push({ at: clock.monotonic(), reason: ended });
      entry.server = entry.starting = undefined;
    }
    if (entry.starting) return entry.starting;
    entry.failures = entry.failures.filter(({ at }) => clock.monotonic() - at < FAILURES_MS);
    const last = entry.failures.at(-1);
    if (last && entry.failures.length >= MAX_FAILURES) {
      const reason = `${last.reason}; that was failure ${entry.failures.length}`;
      const fix = `It is started again after ${FAILURES_MS / 60_000} minutes. Continue without it.`;
      return Promise.reject(serverFailed(entry.name, reason, fix));
    }
    const starting = this.#start(entry, found).then((server) => {
      if (entry.starting === starting) entry.server = server;
      return server;
    });
    entry.starting = starting;
    return starting;
  }

  async #start(entry: Entry, found: FoundServer): Promise<LanguageServer> {
    const running = [...this.#entries.values()].filter((each) => each.starting && each !== entry);
    if (running.length >= MAX_RUNNING) {
      const [oldest] = running.filter(({ active }) => active === 0).sort((a, b) => a.usedAt - b.usedAt);
      if (oldest) await this.#end(oldest);
    }
    try {
      // Its network is that of no session: it has none.
      const { clock, hostVariables, stateFolder, sandbox, publicMcpServers = false } = this.#settings;
      const around = { clock, hostVariables, stateFolder, publicMcpServers, ...(sandbox && { sandbox }) };
      return await LanguageServer.start(entry.folder, found, around);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      entry.failures.push({ at: this.#settings.clock.monotonic(), reason });
      entry.starting = undefined;
      throw serverFailed(entry.name, reason, `Check that ${found.command} runs in the folder.`);
    }
  }

  #entryOf(folder: string, name: string): Entry {
    const key = keyOf(folder, name);
    const entry = this.#entries.get(key) ?? {
      folder,
      name,
      starting: undefined,
      server: undefined,
      active: 0,
      usedAt: 0,
      failures: [],
      idle: new Timer(this.#settings.clock),
    };
    this.#entries.set(key, entry);
    return entry;
  }

  async #endAll(which: (entry: Entry) => boolean): Promise<void> {
    await Promise.all([...this.#entries.values()].filter(which).map((entry) => this.#end(entry)));
  }

  async #end(entry: Entry): Promise<void> {
    const { starting } = entry;
    entry.server = entry.starting = undefined;
    entry.idle.clear();
    const server = await starting?.catch(() => undefined);
    await server?.close();
  }
}

/** Undefined if they are switched off. */
export const createLanguageServers = (
  { lsp, ...settings }: LanguageSettings & LspSettings,
  rules: Pick<Rules, "rulesOf">,
): LanguageServers | undefined =>
  lsp &&
  new LanguageServers({
    settings: { ...settings, lsp },
    rulesOf: ({ id, agent, folder }) => rules.rulesOf({ id, agentId: agent.id, folder }),
  });

const keyOf = (folder: string, name: string): string => `${folder}\0${name}`;
