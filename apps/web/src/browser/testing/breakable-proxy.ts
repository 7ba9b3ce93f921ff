import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A way to the server that breaks when a test says so. */
export interface BreakableLine extends AsyncDisposable {
  url: string;
  /** Ends every connection at once, in the middle of whatever is under way, and takes no other. */
  cut(): void;
  mend(): void;
}

export async function startBreakableLine(to: string): Promise<BreakableLine> {
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
    mend: () => {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
