import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { promisify } from "node:util";
import { afterAll, describe, expect, inject, test } from "vitest";
import { caVariables } from "./ca-trust.ts";
import { joinSockets } from "./join-sockets.ts";
import { openEgressStage } from "./testing/egress-stage.ts";
import { Scratch } from "./testing/scratch.ts";
import { openTlsHost } from "./testing/tls-host.ts";

const run = promisify(execFile);
const SECRET = "realsecret-0123456789";
const COMMIT = "a".repeat(40);
const lacks = (program: string): boolean => spawnSync(program, ["--version"], { stdio: "ignore" }).status !== 0;

const scratch = new Scratch();
const { port, ca } = await openTlsHost(scratch, "private.example", (request, response) => {
  const isKnown = request.headers.authorization === `Bearer ${SECRET}`;
  response.statusCode = isKnown ? 200 : 401;
  if (request.url?.includes("/info/refs")) response.end(`${COMMIT}\trefs/heads/main\n`);
  else
    response.end(
      JSON.stringify({
        name: "pkg",
        "dist-tags": { latest: "1.2.3" },
        versions: { "1.2.3": { name: "pkg", version: "1.2.3" } },
      }),
    );
});
const host = `private.example:${port}`;
const { egress } = await openEgressStage(scratch, [host], {
  credentials: [{ kind: "headers", hosts: [host], headers: { authorization: `Bearer ${SECRET}` } }],
  ca: [ca],
});
// Stands for socat inside a sandbox.
const relay = createServer({ allowHalfOpen: true }, (client) =>
  joinSockets(client, connect({ path: egress.socket, allowHalfOpen: true }), 60_000),
);
const proxy = `http://127.0.0.1:${await scratch.listen(relay)}`;
const bundle = scratch.path("ca.pem");
writeFileSync(bundle, egress.caBundle!);
const url = `https://${host}`;
const env: Record<string, string> = {
  PATH: process.env["PATH"] ?? "",
  HOME: scratch.folder,
  ...Object.fromEntries(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].map((name) => [name, proxy])),
  NO_PROXY: "localhost,127.0.0.1,::1",
  NODE_USE_ENV_PROXY: "1",
  GIT_CONFIG_NOSYSTEM: "1",
  ...caVariables(bundle),
};
afterAll(() => scratch[Symbol.asyncDispose]());

const PYTHON = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())";
const FETCH = "const answer = await fetch(process.argv[1]); console.log(answer.status, await answer.text())";

describe("programs that trust the bundle get the credential added", () => {
  test.each([
    ["curl", () => ["-sS", "--fail", url], "1.2.3"],
    ["git", () => ["ls-remote", `${url}/repo.git`], COMMIT],
    ["python3", () => ["-c", PYTHON, url], "1.2.3"],
    ["node", () => ["--input-type=module", "-e", FETCH, url], "200"],
    ["npm", () => ["view", "pkg", "version", "--registry", `${url}/`], "1.2.3"],
  ])("%s", async (program, args, expected) => {
    // A machine without the program has nothing to test.
    if (lacks(program)) return expect(program).not.toBe("node");
    const { stdout } = await run(program, args(), { env, timeout: 60_000 * inject("slowness") });
    expect(stdout).toContain(expected);
    expect(stdout).not.toContain(SECRET);
  });
});

test.skipIf(lacks("curl"))("curl is told why a host is refused (needs curl)", async () => {
  const failed = run("curl", ["-sSv", "https://evil.example/"], { env, timeout: 60_000 * inject("slowness") });
  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringContaining("Refused by the sandbox: evil.example"),
  });
});
