import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  method: string | undefined;
  /** With its query. */
  path: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server on loopback that answers as the test says, and keeps all requests. */
export async function startApi(
  answer: (request: Received, response: ServerResponse) => void,
): Promise<{ baseUrl: string; requests: Received[] } & AsyncDisposable> {
  const requests: Received[] = [];
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const receive = (body: string): void => {
      const request = { method, path, headers, body };
      requests.push(request);
      answer(request, response);
    };
    void text(incoming).then(receive);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
