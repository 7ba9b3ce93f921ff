import { Transform } from "node:stream";
import { readClientHello } from "./client-hello.ts";
import { readHostName, type Target } from "./host-name.ts";

/** The client named another host in TLS than in CONNECT. */
export class ServerNameError extends Error {
  readonly serverName: string;

  constructor(serverName: string) {
    super("The TLS connection names another host.");
    this.serverName = serverName;
  }
}

/**
 * Passes a client's bytes on, if its TLS connection names the host of the tunnel. Networks such as Cloudflare serve many hosts at
 * one address and choose by this name: without the check, one allowed host there would open all others.
 */
export function serverNameGuard(target: Target): Transform {
  let held: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      if (!held) return callback(null, chunk);
      held = Buffer.concat([held, chunk]);
      const hello = readClientHello(held);
      if (hello.kind === "incomplete") return callback();
      const named = hello.kind === "tls" ? (hello.serverName ?? "") : "";
      if (hello.kind !== "other" && !isSame(named, target)) return callback(new ServerNameError(named));
      const passed = held;
      held = undefined;
      callback(null, passed);
    },
    flush(callback) {
      callback(null, held?.[0] === 22 ? undefined : held);
    },
  });
}

function isSame(serverName: string, target: Target): boolean {
  const name = readHostName(serverName);
  return name.kind === "name" && name.host === target.host;
}
