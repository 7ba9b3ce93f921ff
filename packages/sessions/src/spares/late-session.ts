import type { ConversationHost, ConversationOutput, HostServer, TranscriptStore } from "@tandem/claude-code";
import { RequestError, type SessionEventBody } from "@tandem/protocol";
import type { GatewayWatch } from "../budgets/side-requests.ts";
import type { ProcessSetup } from "../process/process-setup.ts";

/** The parts of a session that its process calls. */
export interface SessionBinding {
  host: ConversationHost;
  transcripts: TranscriptStore;
  /** The host's tools of this session. */
  hostServers: readonly HostServer[];
  gateway: GatewayWatch;
  write: (events: SessionEventBody[]) => void;
  hide: (secret: string) => void;
  onLoginFailed: () => void;
}

const UNBOUND = "This process has no session yet.";
const unbound = (): RequestError => new RequestError("unavailable", UNBOUND);

/**
 * The session of a process that is started before the session exists. Until it is bound, every call is denied, no model request
 * passes, and nothing is stored. It is bound once, so that nothing of one session can reach another.
 */
export class LateSession {
  readonly #onOutput: (output: ConversationOutput) => void;
  #bound: SessionBinding | undefined;
  readonly #secrets: string[] = [];

  /** `onOutput` receives the output until a session is bound. */
  constructor(onOutput: (output: ConversationOutput) => void) {
    this.#onOutput = onOutput;
  }

  bind(session: SessionBinding): void {
    if (this.#bound) throw new Error("The process belongs to another session.");
    this.#bound = session;
    for (const secret of this.#secrets) session.hide(secret);
  }

  /** Has the same hooks as the session's host will have, because Claude Code gets the list at its start. */
  host(hooks: ProcessSetup["hooks"]): ConversationHost {
    const denied = async () => ({ allow: false as const, message: UNBOUND });
    return {
      onOutput: (output) => (this.#bound ? this.#bound.host.onOutput(output) : this.#onOutput(output)),
      decide: (call) => this.#bound?.host.decide(call) ?? { permission: "deny" },
      confirm: (call) => this.#bound?.host.confirm(call) ?? denied(),
      durable: async () => {
        if (!this.#bound) throw unbound();
        await this.#bound.host.durable?.();
      },
      admitThread: async (thread) => (await this.#bound?.host.admitThread?.(thread)) ?? false,
      starting: async (call) => {
        if (!this.#bound) throw unbound();
        await this.#bound.host.starting?.(call);
      },
      callCustomTool: async (call) =>
        (await this.#bound?.host.callCustomTool(call)) ?? { content: [{ type: "text", text: UNBOUND }], isError: true },
      ...(hooks.beforeTool && {
        beforeTool: async (call) => (await this.#bound?.host.beforeTool?.(call)) ?? denied(),
      }),
      ...(hooks.afterTool && { afterTool: async (call) => (await this.#bound?.host.afterTool?.(call)) ?? {} }),
      ...(hooks.afterFailure && { afterFailure: async (call) => (await this.#bound?.host.afterFailure?.(call)) ?? {} }),
    };
  }

  readonly transcripts: TranscriptStore = {
    append: async (subpath, lines) => {
      if (!this.#bound) throw unbound();
      await this.#bound.transcripts.append(subpath, lines);
    },
    load: async (subpath) => (await this.#bound?.transcripts.load(subpath)) ?? [],
    subpaths: async () => (await this.#bound?.transcripts.subpaths()) ?? [],
  };

  readonly gateway: GatewayWatch = {
    onUsage: (usage, isFree) => this.#bound?.gateway.onUsage(usage, isFree),
    refusal: () => (this.#bound ? this.#bound.gateway.refusal() : UNBOUND),
  };

  readonly write = (events: SessionEventBody[]): void => this.#bound?.write(events);

  readonly hide = (secret: string): void => (this.#bound ? this.#bound.hide(secret) : void this.#secrets.push(secret));

  readonly onLoginFailed = (): void => this.#bound?.onLoginFailed();

  /** Tools with the same definitions that run those of the bound session. */
  servers(servers: readonly HostServer[]): HostServer[] {
    return servers.map((server) => ({
      ...server,
      tools: server.tools.map((tool) => ({
        ...tool,
        run: async (input, signal) => {
          const own = this.#bound?.hostServers
            .find(({ name }) => name === server.name)
            ?.tools.find(({ name }) => name === tool.name);
          return own ? own.run(input, signal) : { text: UNBOUND, isError: true };
        },
      })),
    }));
  }
}
