import type { IncomingMessage } from "node:http";
import { DEFAULT_TENANT } from "@tandem/storage";
import type { TenantHandlers } from "../tenants/tenant-handlers.ts";
import { readBytes } from "./request/read-body.ts";
import { WireError } from "./wire-error.ts";

export const TRIGGERS_PATH = "/v1/triggers";
/** Exactly a trigger's address: nothing below it goes without a token. */
export const DELIVERY_PATH = /^\/v1\/triggers\/[^/]+$/;

/** The largest payload that GitHub sends has 25 MB; usual ones have some kilobytes. */
const MAX_BYTES = 5 * 1_024 * 1_024;
/** Whoever reaches the server can send here, so little may be held in memory at the same time. */
const MAX_AT_ONCE = 8;
const SLOWEST_MS = 10_000;

/** Takes deliveries of triggers. They carry a signature instead of a token. */
export class DeliveryIntake {
  readonly #handlers: TenantHandlers;
  #taking = 0;

  constructor(handlers: TenantHandlers) {
    this.#handlers = handlers;
  }

  async take(incoming: IncomingMessage, trigger: string, tenant = DEFAULT_TENANT): Promise<Response> {
    if (this.#taking >= MAX_AT_ONCE) {
      throw new WireError("too_many", "Too many deliveries arrive at the same time.", {
        fix: "Send it again in a few seconds.",
        headers: { "retry-after": "5" },
      });
    }
    this.#taking += 1;
    const slow = setTimeout(() => incoming.destroy(), SLOWEST_MS);
    try {
      const body = await readBytes(incoming, MAX_BYTES);
      clearTimeout(slow);
      const handler = tenant === DEFAULT_TENANT ? this.#handlers.own : await this.#handlers.of(tenant);
      const header = (name: string): string | undefined => {
        const value = incoming.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      };
      const receipt = await handler?.runtime.engine.triggers.receive(trigger, { header, body });
      if (!receipt) throw notAccepted();
      return Response.json(receipt, { status: 202 });
    } finally {
      clearTimeout(slow);
      this.#taking -= 1;
    }
  }
}

/** The same for every reason, so that a caller can probe neither triggers nor secrets. */
const notAccepted = (): WireError =>
  new WireError("unauthorized", "The delivery was not accepted: its address or its signature is wrong.", {
    fix: "Compare address, secret and signature scheme with the trigger's settings.",
  });
