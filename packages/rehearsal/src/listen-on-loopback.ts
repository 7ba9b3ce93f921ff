import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";

/** Starts a test's own server on 127.0.0.1, by default on a free port. Disposing it closes its connections, too. */
export async function listenOnLoopback(
  server: Server,
  wanted = 0,
): Promise<AsyncDisposable & { url: string; port: number }> {
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      if (server instanceof HttpServer) server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
