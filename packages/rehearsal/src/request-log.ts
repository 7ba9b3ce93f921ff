import type { RefusedHost } from "./proxy-entrance.ts";
import type { ModelRequest, ReceivedRequest } from "./received-request.ts";
import { summarise } from "./received-request.ts";

/** A question that no reply fitted, with the message that its sender got. */
export interface Miss {
  readonly request: ReceivedRequest;
  readonly message: string;
}

/** What arrived since the script was taken up, and who waits for more. */
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

  /** To be called whenever a request has come or its state has changed. */
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
