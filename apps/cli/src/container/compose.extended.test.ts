import Anthropic from "@anthropic-ai/sdk";
import { always, startRehearsal, text } from "@tandem/rehearsal";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { settingsWithModel } from "./testing/compose-file.ts";
import { buildPostgresImage, openPodman, whyNoCompose, type Podman } from "./testing/podman.ts";
import { busyTurn, saidIn, say, USER } from "./testing/stop-busy-worker.ts";

const missing = whyNoCompose();

/** Runs the compose files with podman-compose, the built image, and a stand-in for the image of Postgres. */
describe.skipIf(missing)(`the compose files${missing ? ` (skipped: ${missing})` : ""}`, () => {
  let podman: Podman;
  let parts: AsyncDisposableStack;
  let folder: Awaited<ReturnType<typeof testFolder>>;
  let secrets: string;
  beforeAll(async () => {
    parts = new AsyncDisposableStack();
    folder = parts.use(await testFolder());
    podman = parts.use(await openPodman());
    buildPostgresImage();
    secrets = folder.join("secrets");
    mkdirSync(secrets);
    writeFileSync(join(secrets, "postgres_password"), "made-up");
    writeFileSync(join(secrets, "database_url"), "postgres://tandem:made-up@postgres/tandem");
    writeFileSync(join(secrets, "anthropic_api_key"), "sk-ant-made-up");
    // Containers of other users read them.
    chmodSync(folder.path, 0o755);
  });
  afterAll(() => parts?.disposeAsync());

  const makeWorkspace = (name: string): string => {
    const path = folder.join(name);
    mkdirSync(path);
    chownSync(path, USER, USER);
    return path;
  };
  /** Settings that name the model at the network's gateway, which is this machine. */
  const withModel = (name: string, url: string, services: readonly string[]) => {
    const project = folder.join(name);
    mkdirSync(project);
    writeFileSync(join(project, "tandem.yaml"), settingsWithModel(url));
    const volumes = [`${project}:/etc/tandem/postgres:ro`];
    return { services: Object.fromEntries(services.map((service) => [service, { volumes }])) };
  };
  const clientAt = async (port: number, container: string): Promise<Anthropic> => {
    const baseURL = `http://127.0.0.1:${port}`;
    const isReady = () =>
      fetch(`${baseURL}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isReady, { interval: 250 }).toBe(true);
    const token = await podman.exec(container, "cat", "/data/token");
    return new Anthropic({ baseURL, apiKey: token.trim(), maxRetries: 0 });
  };

  test("compose.yaml: a turn on Postgres at the published port, and an orderly stop", async () => {
    const subnet = "10.233.41";
    await using rehearsal = await startRehearsal([always(text("From the container."))]);
    const port = Number(new URL(rehearsal.url).port);
    await using fleet = await podman.compose("compose.yaml", {
      override: withModel("one", `http://${subnet}.1:${port}`, ["tandem"]),
      secrets,
      workspace: makeWorkspace("workspace-one"),
      subnet,
    });
    const { container } = fleet;
    await using _ = await forward(`${subnet}.1`, port);
    const client = await clientAt(4760, container("tandem"));
    const agent = await client.beta.agents.create({ name: "tester", model: "claude-sonnet-5-5" });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
    await say(client, session.id, "Are you there?");
    await expect.poll(() => saidIn(client, session.id), { interval: 250 }).toEqual(["From the container."]);
    expect(await podman.exec(container("postgres"), "pg_isready", "--username", "tandem")).toBe("");
    expect(await podman.stop(container("tandem"))).toBe(0);
  });

  test("compose.fleet.yaml: another worker continues the turn of one that is stopped", async () => {
    const subnet = "10.233.42";
    const turn = busyTurn();
    await using rehearsal = await startRehearsal(turn.script);
    const port = Number(new URL(rehearsal.url).port);
    const workspace = makeWorkspace("workspace-fleet");
    const members = ["server-1", "server-2", "worker-1", "worker-2"];
    await using fleet = await podman.compose("compose.fleet.yaml", {
      override: withModel("fleet", `http://${subnet}.1:${port}`, members),
      secrets,
      workspace,
      subnet,
    });
    const { container } = fleet;
    await using _ = await forward(`${subnet}.1`, port);
    await clientAt(4760, container("server-1"));
    const client = await clientAt(4761, container("server-2"));
    for (const member of members) await expect.poll(() => podman.isHealthy(container(member))).toBe(true);
    await turn.run({ podman, client, workspace, containerOf: container });
  });
});

/** Passes connections from a network of containers on to a port of this machine's loopback. */
async function forward(host: string, port: number): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    const other = connect(port, "127.0.0.1");
    for (const each of [socket, other]) each.on("error", () => {});
    socket.pipe(other).pipe(socket);
  });
  await once(server.listen(port, host), "listening");
  return server;
}
