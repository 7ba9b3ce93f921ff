import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { AgentCreateParams } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { createEngine } from "../create-engine.ts";
import { handle, SLOWNESS, stageSettings, type SpawnOptions } from "./engine-stage.ts";

// An engine in its own process, which tests can kill or suspend. Prints its session when it runs the first turn.
const [root = ""] = process.argv.slice(2);
const input = (await json(process.stdin)) as SpawnOptions & {
  url: string;
  agent: Partial<AgentCreateParams>;
  words: string;
};
const { url, agent, words, credential } = input;
const store = await openStore(join(root, "tandem.db"));
const engine = await createEngine(store, {
  ...(await stageSettings(root, url)),
  leaseTtl: 1_000 * SLOWNESS,
  ...input.settings,
  ...(input.isTrusted && {
    trustOf: async (folder: string) => ({ trusted: true, state: "trusted" as const, folder, since: null }),
  }),
  ...(credential && { credential: async () => credential }),
});
await engine.start();
// Keeps the process alive while it is idle.
setInterval(() => {}, 1_000);
const running = handle(engine, store);
const session = await running.session(input.session, agent);
await running.say(session, words);
// Before that, another engine on this store could take the message.
await running.until(session, ({ event }) => event.type === "session.status_running");
console.log(JSON.stringify(session));
// Tests end this process by SIGKILL, before Node would write the compile cache.
flushCompileCache();
