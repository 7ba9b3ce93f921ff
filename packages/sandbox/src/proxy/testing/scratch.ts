import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeServer, trackConnections } from "../listen-on-socket.ts";

/** A private folder and servers on loopback, for one test. */
export class Scratch extends AsyncDisposableStack {
  readonly folder = this.adopt(mkdtempSync(join(tmpdir(), "proxy-")), (folder) =>
    rmSync(folder, { recursive: true, force: true }),
  );

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Listens on a free port of 127.0.0.1. */
  async listen(server: Server): Promise<number> {
    const open = trackConnections(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.defer(() => closeServer(server, open));
    const address = server.address();
    if (typeof address !== "object" || !address) throw new Error("The server does not listen.");
    return address.port;
  }
}
