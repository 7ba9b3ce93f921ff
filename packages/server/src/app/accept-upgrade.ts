import { ServerResponse, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { RequestError } from "@tandem/protocol";
import { ACP_PATH } from "../http/acp-path.ts";
import { notValid, requireScope, type Authorizer } from "../http/access/authorize.ts";
import { forwardedId } from "../http/request/forwarded-id.ts";
import type { TenantHandlers } from "./tenant-handlers.ts";
import type { Logger } from "../http/create-logger.ts";
import type { Readiness } from "./create-app.ts";
import type { EntranceGuard } from "../http/access/entrance-guard.ts";
import { errorReply } from "../http/error-reply.ts";
import { beginExchange } from "../http/request/exchange.ts";
import { isAddress } from "../http/request/is-address.ts";

/** Accepts a WebSocket after the same checks as every request, with the same errors and the same access log line. */
export async function acceptUpgrade(
  { incoming, socket, head }: { incoming: IncomingMessage; socket: Duplex; head: Buffer },
  parts: {
    guard: EntranceGuard;
    authorizer: Authorizer;
    readiness: Readiness;
    handlers: TenantHandlers;
    trustedProxy: boolean;
    logger: Logger;
  },
): Promise<void> {
  const { guard, authorizer, readiness, handlers, logger, trustedProxy } = parts;
  socket.on("error", () => socket.destroy());
  const outgoing = new ServerResponse(incoming);
  const exchange = beginExchange(incoming, outgoing, { logger, trustedProxy });
  try {
    if (!isAddress(incoming)) throw new RequestError("invalid_request", "This is not an address of this server.");
    guard.check(incoming.headers);
    const token = await authorizer.authenticate(incoming, { allowsPage: false });
    exchange.token = token.id;
    const handler = await handlers.of(token.tenant);
    if (!handler) throw notValid();
    requireScope(token, "run");
    if (readiness.isStopping) throw new RequestError("unavailable", "The server is stopping.");
    if (!handler.acp) throw new RequestError("not_found", "There is nothing at this address.");
    const elsewhere = forwardedId(incoming) === undefined ? handler.routers.acp : undefined;
    if (elsewhere) await elsewhere.upgrade(incoming, socket, head, exchange.id);
    else await handler.acp.upgrade(incoming, socket, head, token);
    const begun = performance.now();
    const line = { request_id: exchange.id, method: "GET", path: ACP_PATH, status: 101, token: token.id };
    socket.once("close", () => logger.info({ ...line, ms: Math.round(performance.now() - begun) }, "request"));
  } catch (error) {
    const { status, headers, body, unexpected } = errorReply(error, exchange.id);
    if (unexpected) logger.error({ err: error, request_id: exchange.id }, "an upgrade failed unexpectedly");
    if (!(socket instanceof Socket) || socket.destroyed) return void socket.destroy();
    outgoing.assignSocket(socket);
    outgoing.once("finish", () => socket.end());
    outgoing.writeHead(status, { ...headers, connection: "close" }).end(body);
  }
}
