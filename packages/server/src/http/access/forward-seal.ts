import type { IncomingMessage } from "node:http";
import type { Clock } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { forwardedId } from "../request/forwarded-id.ts";
import type { SharedKey } from "./shared-key.ts";

/** Names the browser for which a request was forwarded: time, stored key and MAC. */
export const SEAL_HEADER = "tandem-passed-as";

/** Clocks of machines differ. A seal is for one request, so that a longer time permits nothing else. */
const WINDOW_MS = 300_000;

/**
 * Vouches for a forwarded request of the page. Its own signature is valid once and for one address only, but a request
 * may be sent to several processes.
 */
export class ForwardSeal {
  readonly #key: SharedKey;
  readonly #clock: Pick<Clock, "now">;

  constructor(key: SharedKey, clock: Pick<Clock, "now">) {
    this.#key = key;
    this.#clock = clock;
  }

  async create(request: { method: string; url: string; id: string }, { sha256 }: TokenRow): Promise<string> {
    const now = this.#clock.now();
    return `${now}.${sha256}.${await this.#key.sign(partsOf({ ...request, sha256, time: now }))}`;
  }

  /** The stored key of the browser; undefined without a valid seal. */
  async open(incoming: IncomingMessage): Promise<string | undefined> {
    const id = forwardedId(incoming);
    const value = incoming.headers[SEAL_HEADER];
    const found = typeof value === "string" ? /^(\d{1,15})\.(page:[0-9a-f]{64})\.([\w-]{43})$/.exec(value) : null;
    if (id === undefined || !found) return undefined;
    const [, time, sha256 = "", given = ""] = found;
    if (Math.abs(this.#clock.now() - Number(time)) > WINDOW_MS) return undefined;
    const { method = "", url = "" } = incoming;
    const parts = partsOf({ method, url, id, sha256, time: Number(time) });
    return (await this.#key.isSigned(parts, given)) ? sha256 : undefined;
  }
}

const partsOf = ({
  method,
  url,
  id,
  sha256,
  time,
}: {
  method: string;
  url: string;
  id: string;
  sha256: string;
  time: number;
}): (string | number)[] => [method, url, id, sha256, time];
