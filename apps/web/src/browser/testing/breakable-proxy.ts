import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy to the server that a test can cut. */
export interface BreakableProxy extends AsyncDisposable {
  url: string;
  /** Closes all open connections immediately and refuses new ones. */
  cut(): void;
  restore(): void;
}

export async function startBreakableProxy(to: string): Promise<BreakableProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((client) => {
    if (isCut) return void client.resetAndDestroy();
    const upstream = connect(Number(new URL(to).port), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
