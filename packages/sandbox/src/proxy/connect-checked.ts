import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { CheckedTarget } from "./check-target.ts";
import { connectThrough } from "./upstream-proxy.ts";

/** Answers a socket's lookup with the addresses that were checked, so that no second DNS answer counts. */
export const checkedLookup =
  ({ addresses }: CheckedTarget): LookupFunction =>
  (_host, options, callback) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };

/** Connects to one of the checked addresses, directly or through the proxy of this machine's network. */
export function connectChecked(target: CheckedTarget, timeoutMs: number): Promise<Socket> {
  const { via, port, addresses } = target;
  if (via) {
    const host = via.byName ? target.host : addresses[0]!;
    return connectThrough(via.proxy, { host, port }, { timeoutMs });
  }
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: target.host,
      port: target.port,
      lookup: checkedLookup(target),
      autoSelectFamily: true,
      allowHalfOpen: true,
    });
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(new Error("The connection timed out.")), timeoutMs);
    socket.once("error", fail);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      resolve(socket);
    });
  });
}
