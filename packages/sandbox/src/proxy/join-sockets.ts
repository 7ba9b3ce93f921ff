import type { Socket } from "node:net";
import type { Transform } from "node:stream";

/** After one side has ended, the other has this long to finish. */
const HALF_OPEN_MS = 60_000;

/**
 * Passes bytes both ways, with back pressure. Ends when both sides have ended, one fails, or no byte moves for too long: a
 * socket's timeout counts reads and writes, so a transfer in one direction keeps both alive. Both need `allowHalfOpen`. Bytes from
 * `a` to `b` pass through `guard`, which handles its own errors.
 */
export function joinSockets(a: Socket, b: Socket, idleMs: number, guard?: Transform): void {
  const destroy = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.setTimeout(idleMs, destroy);
    from.on("error", destroy);
    from.once("end", () => {
      for (const socket of [a, b]) socket.setTimeout(Math.min(idleMs, HALF_OPEN_MS));
    });
    // After an orderly end, the other side may still have bytes to write.
    from.once("close", () => void (from.readableEnded || destroy()));
    (guard && from === a ? from.pipe(guard) : from).pipe(to);
  }
}
