import { listenOnLoopback } from "@tandem/rehearsal";
import { createServer, type IncomingHttpHeaders } from "node:http";

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
  });
  const { url, ...listening } = await listenOnLoopback(server, port);
  const receiver: WebhookReceiver = {
    ...listening,
    url: `${url}/hooks`,
    received: [],
    answer: 204,
    types: () =>
      receiver.received.map(({ body }) => (JSON.parse(body) as { data: { type: string } }).data.type).toSorted(),
  };
  return receiver;
}
