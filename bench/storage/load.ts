import { newId, type SessionEvent } from "@tandem/protocol";
import type { Lease, SessionRow, Store } from "@tandem/storage";

/** An event as most are. */
export const small = (): SessionEvent => ({
  type: "agent.message",
  content: [
    { type: "text", text: "A sentence of the length that a sentence often has, and then another one like it." },
  ],
  id: newId("event"),
  processed_at: new Date().toISOString(),
});

export const append = (store: Store, lease: Lease, events: readonly SessionEvent[]): Promise<unknown> =>
  store.events.append(
    lease,
    events.map((event) => ({ thread: null, event })),
  );

export async function newSessions(store: Store, count: number): Promise<Lease[]> {
  const now = new Date().toISOString();
  const leases: Lease[] = [];
  for (let made = 0; made < count; made += 1) {
    const row: SessionRow = {
      id: newId("session"),
      status: "running",
      agent: {
        type: "agent",
        id: "agent_bench",
        version: 1,
        name: "Bench",
        description: null,
        model: { id: "claude-sonnet-5-5" },
        system: "Be brief.",
        tools: [],
        mcp_servers: [],
        skills: [],
        execution_identity: { type: "service_account" },
        multiagent: null,
      },
      environmentId: "env_local",
      title: null,
      metadata: {},
      resources: [],
      budget: null,
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        list_cost: { amount: "0", currency: "USD" },
        active_seconds: 0,
      },
      activeMs: 0,
      waitingFor: [],
      folder: "/",
      place: null,
      claudeSession: undefined,
      primaryThread: newId("thread"),
      createdAt: now,
      updatedAt: now,
      archivedAt: null,
    };
    await store.sessions.create(row, []);
    leases.push((await store.leases.take(row.id, "bench", 3_600_000))!);
  }
  return leases;
}
