import type { AgentConnector, AnyMessage } from "@agentclientprotocol/sdk";
import { within } from "./within.ts";

/** Both directions of one agent connection, independent of the transport. */
export class AgentLink {
  /** Resolves when the agent has closed the connection. */
  readonly closed: Promise<void>;
  readonly #inbound: ReadableStreamDefaultController<AnyMessage>;
  #isOpen = true;

  /** `deliver` gets the agent's messages one at a time; the agent waits for it. */
  constructor(agent: AgentConnector, deliver: (message: AnyMessage) => Promise<void> | void) {
    let inbound: ReadableStreamDefaultController<AnyMessage>;
    const ended = Promise.withResolvers<void>();
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => void (inbound = controller),
      cancel: () => ended.resolve(),
    });
    const writable = new WritableStream<AnyMessage>({
      write: deliver,
      close: () => ended.resolve(),
      abort: () => ended.resolve(),
    });
    this.#inbound = inbound!;
    const lifecycle = agent.connect({ readable, writable });
    this.closed = (closedOf(lifecycle) ?? ended.promise).catch(() => undefined).then(() => void (this.#isOpen = false));
  }

  send(message: AnyMessage): void {
    if (this.#isOpen) this.#inbound.enqueue(message);
  }

  /** Resolves when the agent has closed, or at the deadline. */
  async close(deadlineMs: number): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      try {
        this.#inbound.close();
      } catch {
        // The agent closed it already.
      }
    }
    await within(this.closed, deadlineMs);
  }
}

function closedOf(lifecycle: unknown): Promise<void> | undefined {
  if (typeof lifecycle !== "object" || lifecycle === null || !("closed" in lifecycle)) return undefined;
  return lifecycle.closed instanceof Promise ? lifecycle.closed.then(() => undefined) : undefined;
}
