import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface ReceivedWebhook {
  headers: IncomingHttpHeaders;
  /** As received: the signature is of these bytes. */
  body: string;
  /** The type of the event, such as `session.status_idled`. */
  type: string;
}

/** An endpoint that receives webhooks in the test's process. */
export class WebhookInbox implements AsyncDisposable {
  readonly #server: Server;
  readonly #received: ReceivedWebhook[] = [];
  readonly #watchers = new Set<() => void>();
  #url = "";
  /** The status of the next answers. A status of 400 or more makes the sender try again. */
  answer = 204;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString();
    this.#received.push({ headers: request.headers, body, type: typeOf(body) });
    response.writeHead(this.answer).end();
    for (const watch of this.#watchers) watch();
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`;
  }

  /** Give it to `client.beta.organization.webhooks.create`. */
  get url(): string {
    return this.#url;
  }

  get received(): readonly ReceivedWebhook[] {
    return this.#received;
  }

  /** The first that fits, come or to come. */
  waitFor(fits: string | ((webhook: ReceivedWebhook) => boolean), timeoutMs = 10_000): Promise<ReceivedWebhook> {
    const matches = typeof fits === "string" ? ({ type }: ReceivedWebhook) => type === fits : fits;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.#received.find(matches);
        if (!found) return;
        end();
        resolve(found);
      };
      const end = (): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
      };
      const timer = setTimeout(() => {
        end();
        const types = this.#received.map(({ type }) => type).join(", ") || "none";
        reject(new Error(`The webhook did not arrive within ${timeoutMs / 1_000} s. Received: ${types}.`));
      }, timeoutMs);
      this.#watchers.add(look);
      look();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function typeOf(body: string): string {
  const parsed: unknown = JSON.parse(body);
  const data: unknown = typeof parsed === "object" && parsed !== null && "data" in parsed ? parsed.data : undefined;
  const type: unknown = typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
  return typeof type === "string" ? type : "";
}
