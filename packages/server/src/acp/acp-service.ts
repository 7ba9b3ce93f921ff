import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  contextWindowOf,
  ENVIRONMENT_METADATA,
  PERMISSION_MODES,
  RequestError,
  SESSION_METADATA,
  type PermissionMode,
  type Session,
} from "@tandem/protocol";
import type { Engine, Model } from "@tandem/sessions";
import type { AcpClient } from "./acp-client.ts";
import { AcpSession } from "./acp-session.ts";
import type { ClientServer } from "./client-servers.ts";
import type { AcpAgentOptions } from "./acp-agent-options.ts";
import { messageContent, type PromptBlock } from "./prompt-content.ts";
import type { Prompt } from "./prompt.ts";
import { settingChange, settingsOf, type SessionSettings } from "./session-settings.ts";

const PAGE = 50;

export interface OpenedSession {
  id: string;
  settings: SessionSettings;
}

interface ListedSession {
  id: string;
  folder: string;
  title: string | null;
  updatedAt: string;
}

/** The folder and the MCP servers that a client names for a session. */
export interface SessionWorkspace {
  folder: string;
  servers: readonly ClientServer[];
}

/** The sessions of one connection. Maps every request of the protocol to the engine. */
export class AcpService {
  readonly #options: AcpAgentOptions;
  readonly #engine: Engine;
  readonly #client: AcpClient;
  readonly #sessions = new Map<string, { session: AcpSession; told: SessionSettings; takeBack: () => void }>();
  #models: readonly Model[] = [];
  #asking: Promise<void> | undefined;

  constructor(options: AcpAgentOptions, engine: Engine, client: AcpClient) {
    this.#options = options;
    this.#engine = engine;
    this.#client = client;
  }

  /** Creates a session in a folder. Starts no process and calls no model. */
  async begin({ folder: named, servers }: SessionWorkspace): Promise<OpenedSession> {
    this.#checkServers(servers);
    const folder = await existingFolder(named);
    const params = await this.#options.begin(folder);
    const created = await this.#engine.sessions.create(params, this.#options.who);
    await this.#options.opened?.(created.id);
    return this.#open(created, { folder, servers }, (session) => session.attach());
  }

  /** Sends the session's whole history before it resolves. */
  async load(id: string, wanted: SessionWorkspace): Promise<OpenedSession> {
    return this.#open(await this.#own(id), await this.#inItsFolder(id, wanted), (session) => session.replay());
  }

  /** Opens the session without sending its history. */
  async resume(id: string, wanted: SessionWorkspace): Promise<OpenedSession> {
    return this.#open(await this.#own(id), await this.#inItsFolder(id, wanted), (session) => session.attach());
  }

  async fork(id: string, wanted: SessionWorkspace): Promise<OpenedSession> {
    const { metadata } = await this.#own(id);
    // The fork starts in the same mode.
    if (this.#options.mayBypass === false && metadata[SESSION_METADATA.permissionMode] === "bypassPermissions") {
      throw new RequestError("forbidden", "A fork in bypass mode needs a token with the scope admin.");
    }
    const place = await this.#inItsFolder(id, wanted);
    const forked = await this.#engine.history.fork(id, {}, this.#options.who);
    await this.#options.opened?.(forked.id);
    return this.#open(forked, place, (session) => session.attach());
  }

  /** Sessions in a folder of the user, newest first. */
  async list({ folder, cursor }: { folder?: string; cursor?: string }) {
    const wanted = folder === undefined ? undefined : await realpath(folder).catch(() => folder);
    const sessions: ListedSession[] = [];
    const folders = new Map<string, string | undefined>();
    let next = cursor ?? null;
    do {
      const page = await this.#engine.sessions.list({
        limit: PAGE,
        order: "desc",
        ...(next !== null && { cursor: next }),
      });
      for (const session of page.data) {
        const { environment_id: environment } = session;
        if (!folders.has(environment)) folders.set(environment, await this.#folderOf(session));
        const place = folders.get(environment);
        if (place === undefined || (wanted !== undefined && place !== wanted)) continue;
        if (this.#options.owns && !(await this.#options.owns(session.id))) continue;
        sessions.push({ id: session.id, folder: place, title: session.title, updatedAt: session.updated_at });
      }
      next = page.next;
    } while (next !== null && sessions.length < PAGE);
    return { sessions, next };
  }

  /** Cancels the running turn and stops watching the session. */
  async close(id: string): Promise<void> {
    const { session } = this.#watched(id);
    session.cancel();
    await session.settled();
    this.#forget(id);
  }

  /** Permanently deletes the session. Idempotent. */
  async delete(id: string): Promise<void> {
    try {
      await this.#own(id);
      await this.#options.mayWrite?.(id);
    } catch (error) {
      if (error instanceof RequestError && error.code === "not_found") return;
      throw error;
    }
    this.#forget(id);
    await this.#engine.sessions.delete(id, this.#options.who);
  }

  /** Call it without an await before: a cancellation that arrives next must find the prompt. */
  prompt(id: string, content: readonly PromptBlock[]): Prompt {
    return this.#watched(id).session.prompt(messageContent(content));
  }

  cancel(id: string): void {
    this.#sessions.get(id)?.session.cancel();
  }

  /** Changes a setting by its name: `mode`, `model` or `effort`. */
  async set(id: string, name: string, value: string): Promise<SessionSettings> {
    const watched = this.#watched(id);
    if (name === "model") await this.#learnModels();
    const change = settingChange(await this.#settings(id), name, value);
    if (!change) throw new RequestError("invalid_request", `There is no ${name} ${JSON.stringify(value)} to choose.`);
    await this.#options.mayWrite?.(id);
    const updated = await this.#engine.sessions.update(id, { metadata: change }, this.#options.who);
    const settings = this.#view(updated);
    watched.told = settings;
    return settings;
  }

  /** The connection closed. The engine finishes running turns. */
  leave(): void {
    for (const id of this.#sessions.keys()) this.#forget(id);
  }

  async #open(row: Session, { folder, servers }: SessionWorkspace, watch: (session: AcpSession) => Promise<void>) {
    const { id } = row;
    this.#forget(id);
    const publicOnly = this.#options.mayBringPrograms === false;
    const takeBack = this.#options.clientServers.bring(id, folder, servers, { publicOnly });
    const { who, mayKeepRules = false } = this.#options;
    const onFailure = (error: unknown, what: string): void => this.#options.onFailure?.(error, what);
    const session = new AcpSession(row, {
      engine: this.#engine,
      client: this.#client,
      who,
      folder,
      mayKeepRules,
      onFailure,
      modes: () => this.#modes(),
      windowOf: (model) => contextWindowOf(model) ?? this.#models.find(({ id }) => id === model)?.contextWindow,
      onSettings: () => void this.#tellSettings(id),
      mayWrite: async (written) => this.#options.mayWrite?.(written),
    });
    const settings = this.#view(row);
    this.#sessions.set(id, { session, told: settings, takeBack });
    await watch(session);
    // Sent after the response, because the client ignores updates of a session it does not know yet.
    setImmediate(() => {
      void this.#introduce(id, session).catch((error: unknown) => onFailure(error, "introducing a session"));
    });
    return { id, settings };
  }

  async #introduce(id: string, session: AcpSession): Promise<void> {
    await session.askAgain();
    const commands = await this.#engine.sessions.commands(id);
    await this.#client.commands(
      id,
      commands.map(({ name, description, argument_hint: hint }) => ({ name, description: description ?? name, hint })),
    );
    await this.#learnModels();
    await this.#tellSettings(id);
  }

  /** Listing models may start a process, so only a request that chooses a model waits for it. */
  #learnModels(): Promise<void> {
    this.#asking ??= this.#engine.models().then(
      (models) => void (this.#models = models),
      (error: unknown) => {
        this.#asking = undefined;
        this.#options.onFailure?.(error, "listing the models");
      },
    );
    return this.#asking;
  }

  async #tellSettings(id: string): Promise<void> {
    const watched = this.#sessions.get(id);
    if (!watched) return;
    try {
      const settings = await this.#settings(id);
      const { told } = watched;
      if (isDeepStrictEqual(told, settings) || this.#sessions.get(id) !== watched) return;
      watched.told = settings;
      await this.#client.settings(id, settings, told);
    } catch (error) {
      this.#options.onFailure?.(error, "reading a session's settings");
    }
  }

  async #settings(id: string): Promise<SessionSettings> {
    return this.#view(await this.#engine.sessions.get(id));
  }

  #view(session: Session): SessionSettings {
    const usualMode = this.#options.usualMode ?? "default";
    return settingsOf(session, { models: this.#models, modes: this.#modes(), usualMode });
  }

  /** Bypass mode needs the scope `admin`, and Claude Code refuses it to root, except in a sandbox. */
  #modes(): readonly PermissionMode[] {
    const isRefused =
      this.#options.mayBypass === false || (process.getuid?.() === 0 && process.env["IS_SANDBOX"] !== "1");
    return isRefused ? PERMISSION_MODES.filter((mode) => mode !== "bypassPermissions") : PERMISSION_MODES;
  }

  #watched(id: string) {
    const watched = this.#sessions.get(id);
    if (watched) return watched;
    throw new RequestError("not_found", `The session ${id} is not open here.`, {
      fix: "Begin it with session/new, or open it with session/load or session/resume.",
    });
  }

  async #own(id: string): Promise<Session> {
    const session = await this.#engine.sessions.get(id);
    if (this.#options.owns && !(await this.#options.owns(id))) {
      throw new RequestError("not_found", `There is no session ${id}.`);
    }
    if (session.archived_at === null) return session;
    throw new RequestError("invalid_request", `The session ${id} is archived: it can only be read.`);
  }

  /** A stdio server runs a program on this machine without approval, so the `run` scope alone does not allow it. */
  #checkServers(servers: readonly ClientServer[]): void {
    if (this.#options.mayBringPrograms !== false || servers.every(({ type }) => type !== "stdio")) return;
    throw new RequestError("forbidden", "mcpServers: this token may not have programs started on the server.", {
      fix: "Name servers with an http address, or use a token with the scope admin.",
    });
  }

  /** A session keeps its first folder; a different one in the request is an error of the client. */
  async #inItsFolder(id: string, { folder: named, servers }: SessionWorkspace): Promise<SessionWorkspace> {
    this.#checkServers(servers);
    const folder = await existingFolder(named);
    const own = await this.#folderOf(await this.#engine.sessions.get(id));
    if (own === undefined || own === folder) return { folder, servers };
    throw new RequestError("invalid_request", `The session ${id} works in ${own}, not in ${folder}.`);
  }

  /** Undefined for a session in a folder that was created for it alone. */
  async #folderOf({ environment_id: id }: Pick<Session, "environment_id">): Promise<string | undefined> {
    const environment = await this.#engine.environments.get(id).catch(() => undefined);
    const path = environment?.metadata[ENVIRONMENT_METADATA.path];
    return path === undefined ? undefined : await realpath(path).catch(() => path);
  }

  #forget(id: string): void {
    const watched = this.#sessions.get(id);
    watched?.session.detach();
    watched?.takeBack();
    this.#sessions.delete(id);
  }
}

async function existingFolder(folder: string): Promise<string> {
  if (!isAbsolute(folder)) {
    throw new RequestError("invalid_request", `cwd: expected an absolute path, not ${JSON.stringify(folder)}.`);
  }
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory()) {
    throw new RequestError("invalid_request", `cwd: there is no folder ${folder}.`);
  }
  return real;
}
