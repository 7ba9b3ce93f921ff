import type { RefusedHost } from "./server/proxy-entrance.ts";
import type { ModelRequest, ReceivedRequest } from "./received-request.ts";
import { summarise } from "./received-request.ts";

/** A model request without a matching reply, with the message sent to the caller. */
export interface Miss {
  readonly request: ReceivedRequest;
  readonly message: string;
}

/** Requests since the script was set, and waiters for more. */
export class RequestLog {
  readonly #waiters = new Set<() => void>();
  requests: ReceivedRequest[] = [];
  modelRequests: ModelRequest[] = [];
  misses: Miss[] = [];
  refused: RefusedHost[] = [];

  forget(): void {
    this.requests = [];
    this.modelRequests = [];
    this.misses = [];
    this.refused = [];
  }

  /** Call whenever a request has arrived or changed. */
  changed(): void {
    for (const check of this.#waiters) check();
  }

  waitFor<T>(find: () => T | undefined, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(check);
        const seen = this.requests.map(summarise).join(", ") || "none";
        reject(new Error(`The request that was waited for did not arrive within ${timeoutMs} ms. Arrived: ${seen}.`));
      }, timeoutMs);
      this.#waiters.add(check);
      check();
    });
  }
}
