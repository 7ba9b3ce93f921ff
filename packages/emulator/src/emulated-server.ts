import { join } from "node:path";
import type { Conversation } from "@tandem/claude-code";
import { emulatedConversations } from "@tandem/claude-code/emulated";
import type { Rehearsal } from "@tandem/rehearsal";
import { sleep } from "@tandem/protocol";
import { createLogger, createToken, startServer, type RunningServer } from "@tandem/server";
import { createEngine, type Engine, type MovableClock, postDelivery } from "@tandem/sessions";
import { openStore, type Store } from "@tandem/storage";
import { builtinTools } from "./builtin-tools.ts";
import { emulatedSettings, KEY } from "./emulated-settings.ts";
import type { ToolScript } from "./tool-script.ts";
import type { Faults } from "./faults.ts";
import { setTimeout as delay } from "node:timers/promises";

export interface EmulatedServerSettings {
  /** Holds the store and the state of all servers of an emulator. */
  root: string;
  folder: string;
  model: Rehearsal;
  clock: MovableClock;
  faults: Faults;
  tools: ToolScript;
  claudeCode: boolean;
}

/** One life of the emulator's server. The next one continues on its store. */
export class EmulatedServer {
  readonly #store: Store;
  readonly #engine: Engine;
  readonly #server: RunningServer;
  readonly #conversations: ReadonlySet<Conversation>;
  readonly apiKey: string;

  private constructor(parts: {
    store: Store;
    engine: Engine;
    server: RunningServer;
    conversations: ReadonlySet<Conversation>;
    apiKey: string;
  }) {
    this.#conversations = parts.conversations;
    this.#store = parts.store;
    this.#engine = parts.engine;
    this.#server = parts.server;
    this.apiKey = parts.apiKey;
  }

  /** Without a key, a new one is created. */
  static async start(settings: EmulatedServerSettings, apiKey?: string): Promise<EmulatedServer> {
    const store = await openStore(join(settings.root, "emulator.db"));
    const logger = createLogger({ destination: { write: () => undefined } });
    const { tools, clock, faults, model } = settings;
    const emulated = emulatedConversations({
      model: { url: model.url, key: KEY },
      runBuiltinTool: builtinTools(tools),
      sleep: (ms, signal) => sleep(clock, ms, { signal }),
    });
    // The Agent SDK takes time to load; only real Claude Code needs it.
    const openConversation = settings.claudeCode ? (await import("@tandem/claude-code")).openConversation : emulated;
    const given = {
      ...emulatedSettings({ ...settings, openConversation }),
      postWebhook: postWithFaults(faults),
    };
    const conversations = new Set<Conversation>();
    const engine = await createEngine(store, {
      ...given,
      openConversation(...parts) {
        const conversation = given.openConversation(...parts);
        conversations.add(conversation);
        return conversation;
      },
    });
    await engine.start();
    const server = await startServer({
      engine,
      context: () => undefined,
      store,
      logger,
      clock,
      settings: { port: 0 },
    });
    const key = apiKey ?? (await createToken(store.tokens, { name: "emulator", scopes: ["admin"] })).secret;
    return new EmulatedServer({ store, engine, server, conversations, apiKey: key });
  }

  get url(): string {
    return this.#server.url;
  }

  /** The number of the last event of a session. */
  readonly logEnd = (session: string): Promise<number> => this.#engine.sessions.head(session);

  async stop(): Promise<void> {
    await this.#server.close(0);
    await this.#engine.stop(0);
    await this.#store[Symbol.asyncDispose]();
  }

  /** As if the process had died: nothing is written any more, and what it ran is gone. */
  async kill(): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
    await this.#server.close(0);
    await Promise.all([...this.#conversations].map((conversation) => conversation.close("lost")));
  }
}

/** Sends webhooks, with the faults that are planned for them. */
const postWithFaults =
  (faults: Faults): typeof postDelivery =>
  async (url, headers, body, options) => {
    const fault = faults.takeForWebhook(url);
    switch (fault?.type) {
      case "lost":
        return { type: "failed", detail: "The emulator was told to lose this delivery." };
      case "duplicate":
        await postDelivery(url, headers, body, options);
        break;
      case "slow":
        await delay(fault.ms);
        break;
      case undefined:
    }
    return postDelivery(url, headers, body, options);
  };
