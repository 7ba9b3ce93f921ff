/**
 * Faults of a request to the emulator.
 * - `status`: answered with this error; the server never sees the request.
 * - `lost_request`: the connection breaks before the server gets the request.
 * - `lost_answer`: the server handles the request, and the connection breaks before its answer arrives.
 * - `cut_stream`: the connection of a stream breaks after this many events.
 * - `slow`: the answer, or each event of a stream, arrives this much later.
 * - `duplicate`: the server gets the request twice; the second answer arrives.
 * - `half_open`: the server never gets the request, and the connection stays silent for this long before it breaks.
 */
export type Fault =
  | { type: "status"; status: number; retryAfterSeconds?: number }
  | { type: "lost_request" }
  | { type: "lost_answer" }
  | { type: "cut_stream"; afterEvents: number }
  | { type: "slow"; ms: number }
  | { type: "duplicate" }
  | { type: "half_open"; ms: number };

/** Faults of a webhook: it is delivered twice, not at all (the sender sees a broken connection), or late. */
export type WebhookFault = { type: "duplicate" } | { type: "lost" } | { type: "slow"; ms: number };

/** The requests that a fault meets. Everything by default. */
export interface FaultTarget {
  method?: string;
  /** A part of the path, or an expression that matches it. */
  path?: string | RegExp;
}

interface Planned<T> {
  target: FaultTarget;
  fault: T;
  left: number;
}

/** Faults that are still to come. Each is used once, or `times` times, in the order in which they were planned. */
export class Faults {
  readonly #requests: Planned<Fault>[] = [];
  readonly #webhooks: Planned<WebhookFault>[] = [];

  /** The next requests that match meet this fault. */
  next(fault: Fault, target: FaultTarget = {}, times = 1): void {
    this.#requests.push({ fault, target, left: times });
  }

  /** The next webhook deliveries meet this fault. `path` is matched against the endpoint's URL. */
  nextWebhook(fault: WebhookFault, target: Pick<FaultTarget, "path"> = {}, times = 1): void {
    this.#webhooks.push({ fault, target, left: times });
  }

  /** Faults that no request has met. */
  get left(): number {
    return this.#requests.length + this.#webhooks.length;
  }

  clear(): void {
    this.#requests.length = 0;
    this.#webhooks.length = 0;
  }

  takeForRequest(method: string, path: string): Fault | undefined {
    return take(this.#requests, method, path);
  }

  takeForWebhook(url: string): WebhookFault | undefined {
    return take(this.#webhooks, "POST", url);
  }
}

function take<T>(planned: Planned<T>[], method: string, path: string): T | undefined {
  const index = planned.findIndex(({ target }) => meets(target, method, path));
  const found = planned[index];
  if (!found) return undefined;
  found.left -= 1;
  if (found.left <= 0) planned.splice(index, 1);
  return found.fault;
}

function meets({ method, path }: FaultTarget, requestMethod: string, requestPath: string): boolean {
  if (method !== undefined && method.toUpperCase() !== requestMethod) return false;
  if (path === undefined) return true;
  return typeof path === "string" ? requestPath.includes(path) : path.test(requestPath);
}
