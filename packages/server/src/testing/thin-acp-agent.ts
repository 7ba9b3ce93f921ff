import { agent, type AgentConnector, type RequestPermissionRequest } from "@agentclientprotocol/sdk";
import type { MemoryEngine } from "./memory-engine.ts";

export interface ThinAcpAgents {
  connect: () => AgentConnector;
  /** The number of connections that were opened and closed. */
  readonly begun: number;
  readonly over: number;
  /** Sessions that were resumed. */
  readonly resumed: string[];
  /** Resolves when the agent has closed its connection; a test may delay it. */
  letGo: () => Promise<void>;
}

/**
 * An agent that implements only the protocol, to test the transport. It answers the prompt `count 3` with three chunks,
 * `ask` with a permission request, `withdraw` with one that is withdrawn, `long` with a chunk of a megabyte, and
 * `never` only when it is cancelled.
 */
export function thinAcpAgents(engine: MemoryEngine): ThinAcpAgents {
  const agents = { begun: 0, over: 0, resumed: [] as string[], letGo: async () => undefined as void, connect };
  function connect(): AgentConnector {
    const cancelled = new Map<string, () => void>();
    const app = agent({ name: "thin" })
      .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
      .onRequest("session/new", () => ({ sessionId: engine.createSession() }))
      .onRequest("session/load", async ({ params: { sessionId }, client }) => {
        await client.notify("session/update", { sessionId, update: chunk("as it was") });
        return {};
      })
      .onRequest("session/resume", ({ params: { sessionId } }) => {
        agents.resumed.push(sessionId);
        return {};
      })
      .onNotification("session/cancel", ({ params }) => cancelled.get(params.sessionId)?.())
      .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
        const [block] = prompt;
        const [word = "", count] = (block?.type === "text" ? block.text : "").split(" ");
        const say = (text: string) => client.notify("session/update", { sessionId, update: chunk(text) });
        switch (word) {
          case "count":
            for (let number = 1; number <= Number(count); number += 1) await say(String(number));
            break;
          case "ask": {
            const { outcome } = await client.request("session/request_permission", permission(sessionId));
            await say(outcome.outcome === "selected" ? outcome.optionId : outcome.outcome);
            break;
          }
          case "withdraw": {
            const cancel = new AbortController();
            const asked = client.request("session/request_permission", permission(sessionId), {
              cancellationSignal: cancel.signal,
              stopWaitingOnCancel: true,
            });
            setImmediate(() => cancel.abort());
            await asked.catch(() => say("withdrawn"));
            break;
          }
          case "long":
            await say("x".repeat(1_024 * 1_024));
            break;
          case "never":
            await new Promise<void>((resolve) => cancelled.set(sessionId, resolve));
            return { stopReason: "cancelled" as const };
        }
        return { stopReason: "end_turn" as const };
      });
    return {
      connect(stream) {
        agents.begun += 1;
        const connection = app.connect(stream);
        const letGo = async (): Promise<void> => {
          await connection.closed;
          await agents.letGo();
          agents.over += 1;
        };
        return { closed: letGo() };
      },
    };
  }
  return agents;
}

const chunk = (text: string) => ({
  sessionUpdate: "agent_message_chunk" as const,
  content: { type: "text" as const, text },
});

const permission = (sessionId: string): RequestPermissionRequest => ({
  sessionId,
  toolCall: { toolCallId: "call_1", title: "Something" },
  options: [{ optionId: "yes", kind: "allow_once", name: "Yes" }],
});
