import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Passes requests on and drops the first responses, like a network that fails at the wrong moment. */
export async function startLossyProxy(
  { port }: { port: number },
  losses: number,
): Promise<AsyncDisposable & { url: string }> {
  const sockets = new Set<Socket>();
  let left = losses;
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => undefined));
    client.pipe(upstream);
    upstream.on("data", (answer) => {
      if (left-- > 0) client.resetAndDestroy();
      else client.write(answer);
    });
    upstream.on("end", () => client.end());
    client.on("close", () => upstream.end());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
