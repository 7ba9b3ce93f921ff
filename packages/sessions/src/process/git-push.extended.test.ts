import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { promisify } from "node:util";
import type { LoggedEvent } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { knownWall } from "@tandem/sandbox";
import { createAuthority, createLeaf } from "@tandem/sandbox/certificates";
import { startGitServer } from "@tandem/workspace/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the, type EngineStage } from "../testing/engine-stage.ts";
import { startSshServer, whyNoSshServer } from "../testing/ssh-server.ts";
import type { SandboxSettings } from "../sandbox/sandbox-settings.ts";

const wall = knownWall(process.env);
const HOST = "git.example.com";
const TOKEN = "made-up-token-of-a-git-host";
const BASIC = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`;
const INTERNET = { resolve: async () => ["127.0.0.1"], isPrivate: () => false };

let stage: EngineStage;
beforeEach(async () => {
  stage = await setEngineStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const git = async (...args: string[]): Promise<string> => {
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "safe.directory=*"];
  return (await promisify(execFile)("git", [...who, "-C", stage.folder, ...args])).stdout.trim();
};

/** A git host with TLS on loopback, which stands for the internet. */
async function openHttpsHost() {
  const behind = await startGitServer(TOKEN);
  const authority = await createAuthority("Internet CA");
  const { keyPem, pem } = await createLeaf(HOST, authority);
  const front = createServer({ key: keyPem, cert: pem }, (client) => {
    const server = connect(Number(new URL(behind.origin).port), "127.0.0.1");
    client.on("error", () => server.destroy());
    server.on("error", () => client.destroy());
    client.pipe(server).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  return {
    port,
    path: behind.path,
    seen: behind.seen,
    internet: { ...INTERNET, ca: [authority.pem] },
    async [Symbol.asyncDispose]() {
      await behind[Symbol.asyncDispose]();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

/** The agent commits and pushes. */
async function push(
  remote: string,
  sandbox: Omit<SandboxSettings, "mode">,
  command = "git push origin main",
): Promise<LoggedEvent[]> {
  await git("init", "--quiet", "--initial-branch=main");
  await git("remote", "add", "origin", remote);
  await writeFile(join(stage.folder, "a.txt"), "one\n");
  const commit = "git add -A && git -c user.name=a -c user.email=a@example.com commit -qm first";
  stage.rehearsal.use([toolUse("Bash", { command: `${commit} && ${command}` }), text("done")]);
  const running = await stage.open({ sandbox: { mode: "require", ...sandbox } });
  return running.turn(await running.session({}, ALLOW_ALL), "Go.");
}

/** All that the model has been told last. */
const told = (): string => JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.messages);

const resultOf = (events: LoggedEvent[]) => {
  const { is_error: isError, content } = the(events, "agent.tool_result");
  return { isError, said: (content ?? []).map((block) => ("text" in block ? block.text : "")).join("\n") };
};

describe.skipIf(!wall.on)("git push from a sandbox over https", () => {
  test("works with a credential that the agent never sees", async () => {
    await using host = await openHttpsHost();
    const name = `${HOST}:${host.port}`;
    const events = await push(`https://${name}/shop.git`, {
      hosts: [name],
      internet: host.internet,
      credentials: [{ host: name, place: { type: "header", name: "Authorization" }, value: async () => BASIC }],
    });
    expect(resultOf(events)).toMatchObject({ isError: false, said: expect.stringContaining("main -> main") });
    expect(await git(`--git-dir=${host.path}`, "rev-parse", "main")).toBe(await git("rev-parse", "HEAD"));
    expect(JSON.stringify(events)).not.toContain(TOKEN);
    expect(JSON.stringify(events)).not.toContain(BASIC);
  });

  test("fails without a credential, and the result names the setting", async () => {
    await using host = await openHttpsHost();
    const name = `${HOST}:${host.port}`;
    // The sandbox does not have the authority that stands for public ones.
    const command = "git -c http.sslVerify=false push origin main";
    const events = await push(`https://${name}/shop.git`, { hosts: [name], internet: host.internet }, command);
    expect([resultOf(events).isError, host.seen.filter(Boolean)]).toEqual([true, []]);
    expect(told()).toContain(`credentials: [{ host: ${name}, header: Authorization`);
    expect(the(events, "tandem.sandbox_violation").target).toBe("~/.git-credentials");
  });

  test("fails at a host that is not allowed, and the result names the command", async () => {
    await using host = await openHttpsHost();
    const events = await push(`https://${HOST}:${host.port}/shop.git`, { internet: host.internet });
    expect(resultOf(events).isError).toBe(true);
    expect(told()).toContain(`tandem sandbox allow ${HOST}:${host.port}`);
  });
});

const missing = whyNoSshServer();
describe.skipIf(!wall.on || missing !== undefined)(
  `git push over ssh${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    test("works with the user's agent, and fails without it with the setting in the result", async () => {
      await using server = await startSshServer(join(stage.root, "sshd"));
      const bare = join(stage.root, "shop.git");
      await git("init", "--quiet", "--bare", "--initial-branch=main", bare);
      const ssh = join(stage.root, "home", ".ssh");
      await mkdir(ssh, { recursive: true, mode: 0o700 });
      await writeFile(join(ssh, "known_hosts"), server.knownHost(HOST));
      const remote = `ssh://${server.user}@${HOST}:${server.port}${bare}`;
      const network = { hosts: [`${HOST}:${server.port}`], internet: INTERNET };
      expect(resultOf(await push(remote, network)).isError).toBe(true);
      expect(told()).toContain("sandbox.sshAgent: true");

      stage.rehearsal.use([toolUse("Bash", { command: "git push origin main" }), text("done")]);
      const running = await stage.open({ sandbox: { mode: "require", ...network, sshAgent: server.agent } });
      const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
      expect(resultOf(events)).toMatchObject({ isError: false, said: expect.stringContaining("main -> main") });
      expect(await git(`--git-dir=${bare}`, "rev-parse", "main")).toBe(await git("rev-parse", "HEAD"));
    });
  },
);
