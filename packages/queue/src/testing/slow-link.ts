import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { finished } from "node:stream/promises";

interface SlowLink extends AsyncDisposable {
  /** The database's address behind the link. */
  url: string;
}

/** A link to a test's Postgres on which every packet takes so long, in both directions. */
export async function slowLink(url: string, oneWayMs: number): Promise<SlowLink> {
  const target = new URL(url);
  const socketFile = join(target.searchParams.get("host")!, ".s.PGSQL.5432");
  const sockets = new Set<Socket>();
  const relay = (from: Socket, to: Socket): void => {
    from.on("data", (chunk) => void setTimeout(() => to.write(chunk), oneWayMs));
    // Both ends close at the same time.
    finished(from, { cleanup: true })
      .catch(() => undefined)
      .finally(() => to.destroy());
    sockets.add(from);
  };
  const server = createServer((client) => {
    const database = connect(socketFile);
    relay(client, database);
    relay(database, client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  target.searchParams.delete("host");
  target.hostname = "127.0.0.1";
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
