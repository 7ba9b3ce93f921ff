import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

interface ReceivedDelivery {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver extends AsyncDisposable {
  url: string;
  port: number;
  received: ReceivedDelivery[];
  /** The status of the next answers; `hang` never answers. */
  answer: number | "hang";
  /** The types of the received events, sorted. */
  types(): string[];
}

/** A program on loopback that receives webhooks. */
export async function listenForWebhooks(port = 0): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      receiver.received.push({ headers: request.headers, body });
      if (receiver.answer === "hang") return;
      response.writeHead(receiver.answer, { location: "http://127.0.0.1:9/elsewhere" }).end("an ignored body");
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const at = (server.address() as AddressInfo).port;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${at}/hooks`,
    port: at,
    received: [],
    answer: 204,
    types: () =>
      receiver.received.map(({ body }) => (JSON.parse(body) as { data: { type: string } }).data.type).toSorted(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
