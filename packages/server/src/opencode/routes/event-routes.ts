import { randomBytes } from "node:crypto";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { EventStream } from "../../http/sse/event-stream.ts";
import type { OpencodeCall, OpencodeRoute } from "./opencode-route.ts";
import type { WireEvent } from "../projection/wire-event.ts";

const HEARTBEAT_MS = 10_000;
/** A client that has this much unread is disconnected. It gets the present state when it connects again. */
const MAX_UNSENT = 16 * 1024 * 1024;

/** Events of all sessions. A client that connects, or connects again, first gets the present state. */
export const eventRoutes: OpencodeRoute[] = [
  { method: "GET", path: "/event", scope: "read", handle: (call) => stream(call, (event) => event) },
  {
    method: "GET",
    path: "/global/event",
    scope: "read",
    handle: (call) => stream(call, (payload, directory) => ({ directory, payload })),
  },
];

async function stream(
  { hub, streams, outgoing, token }: OpencodeCall,
  frame: (event: NumberedEvent, directory: string) => unknown,
): Promise<Response> {
  const opened = streams.open(outgoing, token);
  const write = (events: readonly WireEvent[], directory: string): void => {
    if (opened.unsent > MAX_UNSENT) return opened.destroy();
    opened.write(events.map((event) => `data: ${JSON.stringify(frame(numbered(event), directory))}\n\n`).join(""));
  };
  write([{ type: "server.connected", properties: {} }], "global");
  const beat = setInterval(() => write([{ type: "server.heartbeat", properties: {} }], "global"), HEARTBEAT_MS);
  opened.closed.addEventListener("abort", () => clearInterval(beat), { once: true });
  const leave = await hub.subscribe(write).catch((error: unknown) => endWith(opened, error));
  if (leave && opened.closed.aborted) leave();
  else if (leave) opened.closed.addEventListener("abort", leave, { once: true });
  return RESPONSE_ALREADY_SENT;
}

type NumberedEvent = WireEvent & { id: string };

const numbered = (event: WireEvent): NumberedEvent => ({ id: `evt_${randomBytes(12).toString("hex")}`, ...event });

/** The client connects again after an error. */
function endWith(opened: EventStream, error: unknown): undefined {
  opened.end(`: ${error instanceof Error ? error.message.replaceAll("\n", " ") : "failed"}\n\n`);
  return undefined;
}
