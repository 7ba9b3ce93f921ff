import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { testFolder } from "../testing/test-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const kubernetes = join(root, "deploy", "kubernetes");
const UP = '"msg":"up"';
const IN_USE = /in use/i;
const ATTEMPTS = 3;
const get = z.object({ path: z.string(), httpHeaders: z.array(z.object({ name: z.string(), value: z.string() })) });
const pod = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.array(
          z.object({
            args: z.array(z.string()),
            livenessProbe: z.object({ httpGet: get }),
            readinessProbe: z.object({ httpGet: get }),
          }),
        ),
      }),
    }),
  }),
});

/** Runs a manifest's command with the image's entrypoint and the manifest's settings, without a cluster. */
test.skipIf(whyNoPostgres() !== undefined)(
  "the command lines of the manifests come up as one fleet, answer their probes, and stop when told to",
  async () => {
    await using folder = await testFolder();
    await using postgres = await startPostgres();
    using children = new DisposableStack();
    const [bin, settings, secrets, workspace] = ["bin", "etc", "secrets", "workspace"].map((name) => folder.join(name));
    for (const path of [bin!, settings!, secrets!, workspace!]) await mkdir(path, { recursive: true });
    await symlink(join(root, "apps", "cli", "bin", "tandem.mjs"), join(bin!, "tandem"));
    await cp(join(root, "container", "entrypoint.sh"), join(bin!, "tandem-entrypoint"));
    await writeFile(join(secrets!, "anthropic_api_key"), "sk-ant-made-up");
    await writeFile(join(secrets!, "database_url"), await postgres.createDatabase());
    const config = await readFile(join(kubernetes, "tandem.yaml"), "utf8");
    await writeFile(
      join(settings!, "tandem.yaml"),
      config.replaceAll("/run/secrets/tandem", secrets!).replace('"/workspace"', JSON.stringify(workspace)),
    );

    const launch = async (file: string, name: string) => {
      const [home, data] = [folder.join(name, "home"), folder.join(name, "data")];
      await mkdir(home, { recursive: true });
      await mkdir(data, { recursive: true });
      await chmod(data, 0o700);
      const [first] = parseAllDocuments(await readFile(join(kubernetes, file), "utf8"));
      const [container] = pod.parse(first!.toJS()).spec.template.spec.containers;
      const port = await freePort();
      const args = container!.args.map((arg) =>
        arg.replace(/^--advertise=.*/, `--advertise=http://127.0.0.1:${port}`).replaceAll("$(POD_NAME)", name),
      );
      const child = spawn(join(bin!, "tandem-entrypoint"), [...args, "--port", String(port), "--json"], {
        cwd: workspace!,
        env: {
          PATH: [bin, join(process.execPath, ".."), "/usr/bin", "/bin"].join(":"),
          HOME: home,
          TANDEM_HOME: data,
          TANDEM_PROJECT: settings!,
          NODE_ENV: "production",
          HTTPS_PROXY: "http://127.0.0.1:9",
        },
        stdio: ["ignore", "ignore", "pipe"],
      });
      children.defer(() => void child.kill("SIGKILL"));
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
      return { child, port, data, container: container!, words: () => said, exit: once(child, "exit") };
    };
    /** Resolves when the server is ready. Retries with another port, because another program may bind the free one first. */
    const start = async (file: string, name: string) => {
      for (let attempt = 1; ; attempt += 1) {
        const started = await launch(file, name);
        await expect.poll(() => started.words().includes(UP) || started.child.exitCode !== null).toBe(true);
        if (started.child.exitCode === null) return started;
        expect(attempt < ATTEMPTS && IN_USE.test(started.words()), started.words()).toBe(true);
      }
    };

    const server = await start("servers.yaml", "tandem-server-x");
    const worker = await start("workers.yaml", "tandem-worker-0");
    try {
      for (const { port, container, words } of [server, worker]) {
        for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
          expect(await probe(port, httpGet), words()).toBe(204);
        }
        // The response to a probe with the pod's address as Host.
        expect(await probe(port, { path: "/v1/agents", httpHeaders: [{ name: "Host", value: "10.0.0.7" }] })).toBe(403);
      }
      const token = (await readFile(join(server.data, "token"), "utf8")).trim();
      const headers = { "x-api-key": token };
      const answer = await fetch(`http://127.0.0.1:${server.port}/v1/fleet`, { headers }).catch((error: unknown) => {
        throw new Error(`The server exited with ${server.child.exitCode}: ${server.words()}`, { cause: error });
      });
      // A ready worker is in the fleet.
      expect(await answer.text()).toContain("tandem-worker-0");
    } finally {
      for (const { child } of [server, worker]) child.kill("SIGTERM");
      await Promise.all([server.exit, worker.exit]);
    }
    expect(await server.exit, server.words()).toEqual([0, null]);
    expect(await worker.exit, worker.words()).toEqual([0, null]);
  },
);

/** Requests the pod's address with a custom Host header, like the kubelet. */
function probe(port: number, { path, httpHeaders }: z.infer<typeof get>): Promise<number | string> {
  const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path, headers, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once("error", (error) => resolve(error.message));
    asked.end();
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return z.object({ port: z.number() }).parse(address).port;
}
