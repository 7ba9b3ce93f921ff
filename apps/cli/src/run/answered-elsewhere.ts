import type { SessionsClient } from "../sessions/sessions-client.ts";

/** Aborts when an approval is closed by any client. Disposing stops listening. */
export async function answeredElsewhere(
  client: Pick<SessionsClient, "follow">,
  session: string,
  id: string,
): Promise<Disposable & { signal: AbortSignal }> {
  const [end, answered] = [new AbortController(), new AbortController()];
  const updates = await client.follow(session, end.signal);
  void (async () => {
    for await (const update of updates) {
      if (update.type !== "event") continue;
      const { event } = update;
      if (event.type === "tandem.approval_resolved" && event.event_id === id) answered.abort();
    }
  })().catch(() => undefined);
  return { signal: answered.signal, [Symbol.dispose]: () => end.abort() };
}
