import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy to the model. It holds an answer back after the first piece that contains `word`, until `opened` resolves. */
export async function startHoldingProxy(
  to: string,
  { word, opened }: { word: string; opened: () => Promise<void> },
): Promise<AsyncDisposable & { url: string }> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(to).port), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream);
    client.on("close", () => upstream.destroy());
    void passOn(upstream, client)
      .catch(() => undefined)
      .finally(() => client.end());
  });
  const passOn = async (upstream: Socket, client: Socket): Promise<void> => {
    for await (const piece of upstream as AsyncIterable<Buffer>) {
      client.write(piece);
      if (piece.includes(word)) await opened();
    }
  };
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
