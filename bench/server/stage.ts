import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createLogger, createToken, startServer, type RunningServer } from "@tandem/server";
import { createEngine, type Engine, type EngineSettings } from "@tandem/sessions";
import { openStore, type Store } from "@tandem/storage";

const DEADLINE_MS = 20_000;

export interface Stage {
  store: Store;
  engine: Engine;
  server: RunningServer;
  token: string;
}

/**
 * The store, the engine and the HTTP server as `tandem up` puts them together, in this process; no Claude Code. With `page`,
 * the folder of a built page, that is served too.
 */
export async function setStage(
  folder: string,
  openConversation: EngineSettings["openConversation"],
  page?: string,
): Promise<Stage> {
  const project = join(folder, "project");
  const stateFolder = join(folder, "state");
  await Promise.all([mkdir(project), mkdir(stateFolder)]);
  const store = await openStore(join(folder, "tandem.db"));
  const engine = await createEngine(store, {
    executable: "",
    credential: async () => ({ type: "api_key", key: "sk-ant-made-up", baseUrl: "http://127.0.0.1:9" }),
    hostVariables: {},
    stateFolder,
    deadlines: { spawn: DEADLINE_MS, init: DEADLINE_MS, firstByte: DEADLINE_MS, idle: DEADLINE_MS, exit: DEADLINE_MS },
    idle: 300_000,
    recovery: "stop",
    leaseTtl: 60_000,
    holder: "bench",
    mcpTimeout: DEADLINE_MS,
    roots: [project],
    models: async () => [{ id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: ["sonnet"] }],
    openConversation,
    sweep: async () => undefined,
    log: { warn: (details, message) => console.error(message, details) },
  });
  await engine.start();
  const logger = createLogger({ level: "warn", destination: { write: (line) => void process.stderr.write(line) } });
  const server = await startServer({ engine, store, logger, page, settings: { port: 0 } });
  const { secret } = await createToken(store.tokens, { name: "bench", scopes: ["admin"] });
  return { store, engine, server, token: secret };
}
