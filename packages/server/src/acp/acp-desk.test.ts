import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { AcpDesk } from "./acp-desk.ts";
import { ClientServers, type ClientServer } from "./client-servers.ts";
import type { Outlet } from "./outlet.ts";

const memory = new MemoryEngine();
const clientServers = new ClientServers();
const outlet: Outlet = {
  abilities: { notices: false, compaction: false, forms: false, subagents: false },
  update: async () => undefined,
  settings: async () => undefined,
  commands: async () => undefined,
  ask: async () => undefined,
  fillIn: async () => undefined,
};
const desk = (): AcpDesk => {
  const begin = async () => ({ agent: "agent", environment_id: "env" });
  const parts = { who: "test", version: "1.2.3", v2: false, engine: memory.engine, begin, clientServers };
  return new AcpDesk(parts, memory.engine, outlet);
};
const server = (name: string): ClientServer => ({ name, type: "http", url: "http://127.0.0.1:9/", headers: {} });
const namesOf = (session: string): string[] => clientServers.of(session).map(({ name }) => name);

test("a connection that is found dead late does not take along what its client has brought again", async () => {
  const session = memory.createSession();
  const [dead, next] = [desk(), desk()];
  await dead.resume(session, { folder: tmpdir(), servers: [server("first")] });
  await next.resume(session, { folder: tmpdir(), servers: [server("again")] });
  dead.leave();
  expect(namesOf(session)).toEqual(["again"]);
  next.leave();
  expect(namesOf(session)).toEqual([]);
});
