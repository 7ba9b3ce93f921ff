import { chmod, chown, lstat, unlink } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { SandboxError } from "../sandbox-error.ts";

/** The OS user that may connect. */
export interface SocketOwner {
  uid: number;
  gid: number;
}

/** `sun_path` has 108 bytes on Linux and 104 on macOS, with a final NUL. */
const MAX_PATH_BYTES = 103;

export interface ListeningSocket extends AsyncDisposable {
  readonly path: string;
}

/**
 * Listens on a unix socket that only its owner can connect to. A socket file of an earlier process is replaced. Disposing it
 * ends every connection, including tunnels that an HTTP server no longer tracks.
 */
export async function listenOnSocket(server: Server, path: string, owner?: SocketOwner): Promise<ListeningSocket> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new SandboxError("sandbox_socket_path", `The path of a sandbox's socket is too long: ${path}`, {
      fix: `Set TANDEM_HOME to a shorter folder: the operating system allows ${MAX_PATH_BYTES} bytes.`,
    });
  }
  const open = trackConnections(server);
  await removeSocket(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // A failed accept must not end the whole server process.
  server.on("error", () => {});
  await chmod(path, 0o600);
  if (owner) await chown(path, owner.uid, owner.gid);
  return { path, [Symbol.asyncDispose]: () => closeServer(server, open) };
}

export function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return open;
}

export async function closeServer(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of open) socket.destroy();
  await closed;
}

async function removeSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket()) await unlink(path);
}
