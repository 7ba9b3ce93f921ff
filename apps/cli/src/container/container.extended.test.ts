import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

/** Tests the parts of the image that need no container: its settings, entrypoint and health check. */
test("the entrypoint trusts the settings and serves on all addresses with a token, and the health check works", async () => {
  await using folder = await testFolder();
  const [bin, settings, workspace, data, home] = ["bin", "etc", "workspace", "data", "home"].map((name) =>
    folder.join(name),
  );
  for (const path of [bin!, settings!, workspace!, data!, home!]) await mkdir(path, { recursive: true });
  await chmod(data!, 0o700);
  await symlink(join(root, "apps", "cli", "bin", "tandem.mjs"), join(bin!, "tandem"));
  await cp(join(root, "container", "entrypoint.sh"), join(bin!, "tandem-entrypoint"));
  const config = await readFile(join(root, "container", "tandem.yaml"), "utf8");
  await writeFile(join(settings!, "tandem.yaml"), config.replace("/workspace", workspace!));
  const env = {
    PATH: [bin, join(process.execPath, ".."), "/usr/bin", "/bin"].join(":"),
    HOME: home,
    TANDEM_HOME: data,
    TANDEM_PROJECT: settings,
    CLAUDE_CONFIG_DIR: join(home!, ".claude"),
    ANTHROPIC_API_KEY: "sk-ant-made-up",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NODE_ENV: "production",
  };
  const health = () =>
    spawnSync(process.execPath, [join(root, "container", "health.mjs")], { env, encoding: "utf8", timeout: 20_000 });
  expect(health().status).toBe(1);

  const child = spawn(join(bin!, "tandem-entrypoint"), ["up", "--json", "--port", "0"], {
    cwd: workspace,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => said.push(chunk));
  const exit = once(child, "exit");
  try {
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      exit.then(() => Promise.reject(new Error(said.join("")))),
    ])) as [string];
    const { url } = JSON.parse(line) as { url: string };
    // It has a deadline, which a busy machine can miss once.
    await expect.poll(health).toMatchObject({ status: 0, stderr: "" });
    const port = new URL(url).port;
    const ask = (host: string, token?: string) =>
      spawnSync(process.execPath, ["-e", ASK, port, host, token ?? ""], { env, encoding: "utf8" }).stdout;
    const token = (await readFile(join(data!, "token"), "utf8")).trim();
    // Like a request to a published port from the same machine.
    expect(ask(`127.0.0.1:${port}`, token)).toBe("200");
    expect(ask(`localhost:${port}`, token)).toBe("200");
    expect(ask(`127.0.0.1:${port}`)).toBe("401");
    expect(ask(`stranger.example:${port}`, token)).toBe("403");
  } finally {
    child.kill("SIGTERM");
    await exit;
  }
  expect(await exit).toEqual([0, null]);
  expect(health().status).toBe(1);
});

/** `fetch` does not allow a custom Host header. */
const ASK = `
const [port, host, token] = process.argv.slice(1);
const headers = { host, ...(token && { "x-api-key": token }) };
// Without an agent, the connection ends with the answer, and so does the program.
require("node:http").get({ port, host: "127.0.0.1", path: "/v1/agents", headers, agent: false }, (r) => {
  r.resume();
  process.stdout.write(String(r.statusCode));
});
`;
