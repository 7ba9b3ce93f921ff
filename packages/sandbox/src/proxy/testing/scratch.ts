import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeServer, trackConnections } from "../listen-on-socket.ts";

/** A private folder and servers on loopback, for one test. */
export class Scratch implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "proxy-"));
  readonly #after: (() => Promise<void>)[] = [];

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Listens on a free port of 127.0.0.1. */
  async listen(server: Server): Promise<number> {
    const open = trackConnections(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#after.push(() => closeServer(server, open));
    const address = server.address();
    if (typeof address !== "object" || !address) throw new Error("The server does not listen.");
    return address.port;
  }

  use<T extends AsyncDisposable>(resource: T): T {
    this.#after.push(async () => resource[Symbol.asyncDispose]());
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#after.toReversed()) await close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
