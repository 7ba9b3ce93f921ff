import Anthropic from "@anthropic-ai/sdk";
import { always, startRehearsal, text } from "@tandem/rehearsal";
import { queryPostgres, startPostgres } from "@tandem/storage/testing";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { openPodman, whyNoImage, type Podman } from "./testing/podman.ts";

const missing = whyNoImage();
/** The image's user. */
const USER = 10_001;
const root = join(import.meta.dirname, "..", "..", "..", "..");

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
  /** The image's own health check, which a slow machine may fail once. */
  const isHealthy = (container: string): Promise<boolean> =>
    podman.exec(container, "node", "/app/container/health.mjs").then(
      () => true,
      () => false,
    );
  const clientAt = (port: number, home: string) =>
    new Anthropic({
      baseURL: `http://127.0.0.1:${port}`,
      apiKey: readFileSync(folder.join(home, "token"), "utf8").trim(),
      maxRetries: 0,
    });
  const ask = async (client: Anthropic, session: string, words: string): Promise<string[]> => {
    await client.beta.sessions.events.send(session, {
      events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
    });
    const read = async () => {
      const events = [];
      for await (const event of client.beta.sessions.events.list(session)) events.push(event);
      return events;
    };
    await expect
      .poll(async () => (await read()).map(({ type }): string => type), { interval: 250 })
      .toContain("session.status_idle");
    return (await read()).flatMap((event) =>
      event.type === "agent.message" ? event.content.map((block) => ("text" in block ? block.text : "")) : [],
    );
  };

  test("starts the demo: page, health check, a turn with a tool, an orderly stop", async () => {
    const port = await freePort();
    const mounts = [...volume("demo", "/data"), ...volume("demo-workspace", "/workspace")];
    const demo = await podman.run("demo", mounts, ["up", "--demo", "--port", String(port)]);
    await expect.poll(() => isReady(port), { interval: 250 }).toBe(true);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain("<script");
    await expect.poll(() => isHealthy(demo)).toBe(true);
    expect(await podman.exec(demo, "id", "-u")).toBe(`${USER}\n`);
    const client = clientAt(port, "demo");
    const { data: agents } = await client.beta.agents.list();
    const session = await client.beta.sessions.create({ agent: agents[0]!.id, environment_id: "env_local" });
    const said = await ask(client, session.id, "What is in this folder?");
    expect(said.join("\n")).toContain("package.json");
    expect(await podman.stop(demo)).toBe(0);
  });

  test("forms a fleet with the settings and commands of compose.fleet.yaml", async () => {
    const [database, front, back] = [await freePort(), await freePort(), await freePort()];
    await using rehearsal = await startRehearsal([always(text("From the worker."))]);
    await using postgres = await startPostgres({ port: database });
    const url = await postgres.createDatabase();

    const secrets = folder.join("secrets");
    mkdirSync(secrets);
    writeFileSync(join(secrets, "database_url"), url);
    writeFileSync(join(secrets, "anthropic_api_key"), "sk-ant-made-up");
    const settings = readFileSync(join(root, "container/postgres/tandem.yaml"), "utf8");
    const project = folder.join("project");
    mkdirSync(project);
    writeFileSync(
      join(project, "tandem.yaml"),
      settings.replace("auth: api_key\n", `auth: api_key\n    baseUrl: "${rehearsal.url}"\n`),
    );
    const shared = ["--volume", `${secrets}:/run/secrets:ro`, "--volume", `${project}:/etc/tandem/postgres:ro`];
    const member = [...shared, "--env", "TANDEM_PROJECT=/etc/tandem/postgres", "--add-host", "worker-1:127.0.0.1"];
    const workspace = volume("workspace", "/workspace");
    mkdirSync(folder.join("workspace", "shop"));
    chownSync(folder.join("workspace", "shop"), USER, USER);

    const server = await podman.run(
      "server",
      [...member, ...volume("server", "/data")],
      ["up", "--as", "server", "--port", String(front)],
    );
    const worker = await podman.run(
      "worker",
      [...member, ...volume("worker", "/data"), ...workspace, "--env", "TANDEM_MACHINE=worker-1"],
      ["up", "--as", "worker", "--label", "volume=workspace", "--advertise", `http://worker-1:${back}`],
    );
    for (const port of [front, back]) await expect.poll(() => isReady(port), { interval: 250 }).toBe(true);
    for (const each of [server, worker]) await expect.poll(() => isHealthy(each)).toBe(true);

    const client = clientAt(front, "server");
    const agent = await client.beta.agents.create({ name: "tester", model: "claude-sonnet-5-5" });
    const environment = await client.beta.environments.create({
      name: "shop",
      config: { type: "cloud", networking: { type: "unrestricted" } },
      metadata: { "tandem.path": "/workspace/shop", "tandem.volume": "workspace" },
    });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    expect(await ask(client, session.id, "Are you there?")).toEqual(["From the worker."]);
    const roles = await queryPostgres(url, "select count(*)::int as members from tandem.worker");
    expect(roles).toEqual([{ members: 2 }]);
    expect(await podman.stop(worker)).toBe(0);
    expect(await podman.stop(server)).toBe(0);
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
