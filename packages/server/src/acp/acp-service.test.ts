import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { AcpClient } from "./acp-client.ts";
import { AcpService } from "./acp-service.ts";
import { ClientServers, type ClientServer } from "./client-servers.ts";

const memory = new MemoryEngine();
const clientServers = new ClientServers();
const client = new AcpClient({ notify: async () => undefined } as unknown as AgentContext, {});
const connect = (more: { mayBringPrograms?: boolean; mayBypass?: boolean } = {}): AcpService => {
  const begin = async () => ({ agent: "agent", environment_id: "env" });
  const options = { who: "test", version: "1.2.3", engine: memory.engine, begin, clientServers, ...more };
  return new AcpService(options, memory.engine, client);
};
const server = (name: string): ClientServer => ({ name, type: "http", url: "http://127.0.0.1:9/", headers: {} });
const namesOf = (session: string): string[] => clientServers.of(session).map(({ name }) => name);

test("a connection that is detected as dead late does not remove MCP servers that its client registered again", async () => {
  const session = memory.createSession();
  const [dead, next] = [connect(), connect()];
  await dead.resume(session, { folder: tmpdir(), servers: [server("first")] });
  await next.resume(session, { folder: tmpdir(), servers: [server("again")] });
  dead.leave();
  expect(namesOf(session)).toEqual(["again"]);
  next.leave();
  expect(namesOf(session)).toEqual([]);
});

test("a client without `admin` reaches MCP servers at public addresses only", async () => {
  const session = memory.createSession();
  for (const [mayBringPrograms, publicOnly] of [
    [false, true],
    [true, false],
  ] as const) {
    const service = connect({ mayBringPrograms });
    await service.resume(session, { folder: tmpdir(), servers: [server("near")] });
    expect(clientServers.of(session)).toMatchObject([{ endpoint: { publicOnly } }]);
    service.leave();
  }
});

test("a client without `admin` does not fork a session in bypass mode", async () => {
  const session = memory.createSession({ "tandem.permission_mode": "bypassPermissions" });
  const fork = (mayBypass: boolean) => connect({ mayBypass }).fork(session, { folder: tmpdir(), servers: [] });
  await expect(fork(false)).rejects.toMatchObject({ code: "forbidden" });
  await expect(fork(true)).rejects.toMatchObject({ code: "not_found" });
});
