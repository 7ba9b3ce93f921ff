import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type AgentOptions } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { CheckedTarget } from "./check-target.ts";
import { connectChecked } from "./connect-checked.ts";

type Created = (error: Error | null, stream: Duplex) => void;

/** Connections to one target that is behind the proxy of this machine's network. */
export function proxiedHttpAgent(target: CheckedTarget, connectMs: number): HttpAgent {
  const agent = new HttpAgent();
  // Node's client does not resume a socket. A server sends nothing before the request.
  agent.createConnection = (_options, created) => open(target, connectMs, created, (socket) => socket.resume());
  return agent;
}

/** The same with TLS to the target, inside the proxy's tunnel. */
export function proxiedHttpsAgent(target: CheckedTarget, connectMs: number, options: AgentOptions): HttpsAgent {
  const agent = new HttpsAgent(options);
  agent.createConnection = (_options, created) =>
    open(target, connectMs, created, (socket) =>
      connectTls({ socket, servername: target.host, ...(options.ca && { ca: options.ca }) }),
    );
  return agent;
}

function open(
  target: CheckedTarget,
  connectMs: number,
  created: Created | undefined,
  wrap: (socket: Socket) => Socket,
): undefined {
  connectChecked(target, connectMs).then(
    (socket) => created?.(null, wrap(socket)),
    // Node's types want a stream beside the error, and its code ignores it.
    (error: Error) => (created as ((error: Error) => void) | undefined)?.(error),
  );
}
