import type { IncomingMessage } from "node:http";
import { pathOf } from "@tandem/protocol";
import { DEFAULT_TENANT } from "@tandem/storage";
import type { TenantHandlers } from "./tenant-handlers.ts";
import { readBytes } from "../http/request/read-body.ts";
import { WireError } from "../http/wire-error.ts";

export const DELIVERY_PATH = pathOf("triggers.deliver");
const ADDRESS = new RegExp(`^${DELIVERY_PATH.replace(":trigger_id", "[^/]+")}$`);
/** Whether this is exactly a trigger's address: nothing below it goes without a token. */
export const isDeliveryPath = (path: string): boolean => ADDRESS.test(path);

/** The largest payload that GitHub sends has 25 MB; usual ones have some kilobytes. */
const MAX_BYTES = 5 * 1_024 * 1_024;
/** Everyone who reaches the server can send here, so little may be held in memory at the same time. */
const MAX_AT_ONCE = 128;
const MAX_BYTES_AT_ONCE = 8 * MAX_BYTES;
const SLOWEST_MS = 10_000;

interface Reading {
  incoming: IncomingMessage;
  bytes: number;
}

/** Takes deliveries of triggers. They carry a signature instead of a token. */
export class DeliveryIntake {
  readonly #handlers: TenantHandlers;
  /** Bodies that are arriving, the oldest first. */
  readonly #reading = new Set<Reading>();
  readonly #handled = { count: 0, bytes: 0 };

  constructor(handlers: TenantHandlers) {
    this.#handlers = handlers;
  }

  async take(incoming: IncomingMessage, trigger: string, tenant = DEFAULT_TENANT): Promise<Response> {
    const body = await this.#read(incoming);
    const handled = this.#handled;
    if (handled.count >= MAX_AT_ONCE || handled.bytes + body.length > MAX_BYTES_AT_ONCE) {
      throw new WireError("too_many", "Too many deliveries arrive at the same time.", {
        fix: "Send it again in a few seconds.",
        headers: { "retry-after": "5" },
      });
    }
    handled.count += 1;
    handled.bytes += body.length;
    try {
      const handler = tenant === DEFAULT_TENANT ? this.#handlers.own : await this.#handlers.of(tenant);
      const header = (name: string): string | undefined => {
        const value = incoming.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      };
      const receipt = await handler?.runtime.engine.triggers.receive(trigger, { header, body });
      if (!receipt) throw notAccepted();
      return Response.json(receipt, { status: 202 });
    } finally {
      handled.count -= 1;
      handled.bytes -= body.length;
    }
  }

  async #read(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
    const reading: Reading = { incoming, bytes: 0 };
    const count = (chunk: Buffer): void => {
      reading.bytes += chunk.length;
      this.#makeRoom();
    };
    const slow = setTimeout(() => incoming.destroy(), SLOWEST_MS);
    this.#reading.add(reading);
    this.#makeRoom();
    incoming.on("data", count);
    try {
      return await readBytes(incoming, MAX_BYTES);
    } finally {
      incoming.off("data", count);
      clearTimeout(slow);
      this.#reading.delete(reading);
    }
  }

  /** Ends the oldest ones: a sender that sends nothing must not keep out others, whose bodies arrive at once. */
  #makeRoom(): void {
    let bytes = 0;
    for (const reading of this.#reading) bytes += reading.bytes;
    for (const reading of this.#reading) {
      if (this.#reading.size <= MAX_AT_ONCE && bytes <= MAX_BYTES_AT_ONCE) return;
      this.#reading.delete(reading);
      bytes -= reading.bytes;
      reading.incoming.destroy();
    }
  }
}

/** The same for every reason, so that a caller can probe neither triggers nor secrets. */
const notAccepted = (): WireError =>
  new WireError("unauthorized", "The delivery was not accepted: its address or its signature is wrong.", {
    fix: "Compare address, secret and signature scheme with the trigger's settings.",
  });
