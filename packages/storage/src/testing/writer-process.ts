// node writer-process.ts LOCATION SESSION TOKEN: appends until it is killed, and prints each number once it is stored.
import { newId, type SessionId } from "@tandem/protocol";
import { openStore } from "../open-store.ts";

const [location = "", session = "", token = ""] = process.argv.slice(2);
const lease = { session: session as SessionId, token: Number(token) };
const store = await openStore(location);

const append = async (): Promise<never> => {
  for (;;) {
    const event = {
      type: "session.status_running",
      id: newId("event"),
      processed_at: new Date().toISOString(),
    } as const;
    const [logged] = await store.events.append(lease, [{ thread: null, event }]);
    // Pipe writes are synchronous: printed numbers survive a kill.
    process.stdout.write(`${logged!.seq}\n`);
  }
};
await Promise.all([append(), append(), append()]);
