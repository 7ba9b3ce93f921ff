import Anthropic from "@anthropic-ai/sdk";
import { startRehearsal } from "@tandem/rehearsal";
import { queryPostgres, startPostgres } from "@tandem/storage/testing";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { fleetService, settingsWithModel } from "./testing/compose-file.ts";
import { openPodman, whyNoImage, type Podman } from "./testing/podman.ts";
import { busyTurn, saidIn, say, USER } from "./testing/stop-busy-worker.ts";

const missing = whyNoImage();

describe.skipIf(missing)(`the image${missing ? ` (skipped: ${missing})` : ""}`, () => {
  let podman: Podman;
  let parts: AsyncDisposableStack;
  let folder: Awaited<ReturnType<typeof testFolder>>;
  beforeAll(async () => {
    parts = new AsyncDisposableStack();
    folder = parts.use(await testFolder());
    podman = parts.use(await openPodman());
  });
  afterAll(() => parts?.disposeAsync());

  /** A folder of the image's user, mounted at `target`. */
  const volume = (name: string, target: string): string[] => {
    const path = folder.join(name);
    mkdirSync(path, { recursive: true });
    chownSync(path, USER, USER);
    return ["--volume", `${path}:${target}`];
  };
  const isReady = (port: number): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const clientAt = (port: number, home: string) =>
    new Anthropic({
      baseURL: `http://127.0.0.1:${port}`,
      apiKey: readFileSync(folder.join(home, "token"), "utf8").trim(),
      maxRetries: 0,
    });
  test("starts the demo: page, health check, a turn with a tool, an orderly stop", async () => {
    const port = await freePort();
    const mounts = [...volume("demo", "/data"), ...volume("demo-workspace", "/workspace")];
    const demo = await podman.run("demo", mounts, ["up", "--demo", "--port", String(port)]);
    await expect.poll(() => isReady(port), { interval: 250 }).toBe(true);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain("<script");
    await expect.poll(() => podman.isHealthy(demo)).toBe(true);
    expect(await podman.exec(demo, "id", "-u")).toBe(`${USER}\n`);
    const client = clientAt(port, "demo");
    const { data: agents } = await client.beta.agents.list();
    const session = await client.beta.sessions.create({ agent: agents[0]!.id, environment_id: "env_local" });
    await say(client, session.id, "What is in this folder?");
    await expect
      .poll(async () => (await saidIn(client, session.id)).join("\n"), { interval: 250 })
      .toContain("package.json");
    expect(await podman.stop(demo)).toBe(0);
  });

  test("forms a fleet with the settings, commands and rights of compose.fleet.yaml, and hands a turn over", async () => {
    const names = ["server-1", "worker-1", "worker-2"];
    const ports: Record<string, number> = {};
    for (const name of names) ports[name] = await freePort();
    const turn = busyTurn();
    await using rehearsal = await startRehearsal(turn.script);
    await using postgres = await startPostgres({ port: await freePort() });
    const url = await postgres.createDatabase();

    const secrets = folder.join("secrets");
    mkdirSync(secrets);
    writeFileSync(join(secrets, "database_url"), url);
    writeFileSync(join(secrets, "anthropic_api_key"), "sk-ant-made-up");
    const project = folder.join("project");
    mkdirSync(project);
    writeFileSync(join(project, "tandem.yaml"), settingsWithModel(rehearsal.url));
    const shared = ["--volume", `${secrets}:/run/secrets:ro`, "--volume", `${project}:/etc/tandem/postgres:ro`];
    const hosts = names.flatMap((name) => ["--add-host", `${name}:127.0.0.1`]);
    const workspace = volume("workspace", "/workspace");

    const containers: Record<string, string> = {};
    for (const name of names) {
      const { options, command } = fleetService(name);
      const port = String(ports[name]);
      const mounts = [...shared, ...volume(name, "/data"), ...(name.startsWith("worker") ? workspace : [])];
      // All share this machine's network, so each needs a port of its own.
      const args = [...command.map((arg) => arg.replace(/:4760$/, `:${port}`)), "--port", port];
      containers[name] = await podman.run(name, [...options, ...mounts, ...hosts], args);
    }
    for (const name of names) await expect.poll(() => isReady(ports[name]!), { interval: 250 }).toBe(true);
    for (const name of names) await expect.poll(() => podman.isHealthy(containers[name]!)).toBe(true);
    const roles = await queryPostgres(url, "select count(*)::int as members from tandem.worker");
    expect(roles).toEqual([{ members: 3 }]);
    expect(await podman.exec(containers["worker-1"]!, "grep", "-E", "CapEff|NoNewPrivs", "/proc/1/status")).toBe(
      "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n",
    );

    const client = clientAt(ports["server-1"]!, "server-1");
    await turn.run({ podman, client, workspace: folder.join("workspace"), containerOf: (host) => containers[host]! });
    expect(await podman.stop(containers["server-1"]!)).toBe(0);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
