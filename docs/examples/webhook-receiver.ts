import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";

// Reads ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY and the signing secret, ANTHROPIC_WEBHOOK_SIGNING_KEY.
const client = new Anthropic();
// In your database, if several processes receive. An event may come twice.
const seen = new Set<string>();

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    // Throws unless the signature fits this body and is younger than five minutes.
    const event = client.beta.webhooks.unwrap(await text(request), { headers });
    // Acknowledge at once, work later: an answer after 15 seconds counts as a failure.
    response.writeHead(204).end();
    if (seen.has(event.id)) return;
    seen.add(event.id);
    if (event.data.type === "session.status_idled") {
      const session = await client.beta.sessions.retrieve(event.data.id);
      console.log(`${session.title}: ${session.status}`);
    }
  } catch (error) {
    if (!response.headersSent) response.writeHead(400).end();
    console.error(error instanceof Error ? error.message : error);
  }
}

const server = createServer((request, response) => void receive(request, response));
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => console.log("listening"));
