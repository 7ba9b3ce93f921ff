import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const SSHD = "/usr/sbin/sshd";

/** Why there can be no ssh server here; undefined if there can be one. */
export function whyNoSshServer(): string | undefined {
  // Both print a message and fail, but start.
  const lacks = [SSHD, "ssh-agent"].find((program) => spawnSync(program, ["-?"], { stdio: "ignore" }).error);
  return lacks === undefined ? undefined : `needs ${lacks} (apt install openssh-server)`;
}

export interface SshServer extends AsyncDisposable {
  port: number;
  user: string;
  /** The socket of an agent that has the only key that the server accepts. */
  agent: string;
  /** The server's line for `known_hosts`. */
  knownHost: (host: string) => string;
}

/** An ssh server on loopback with its own keys and settings in a scratch folder. It runs commands as this process' user. */
export async function startSshServer(folder: string): Promise<SshServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const at = (name: string): string => join(folder, name);
  for (const key of ["host", "user"]) await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  const port = await freePort();
  const settings = `ListenAddress 127.0.0.1
Port ${port}
HostKey ${at("host")}
AuthorizedKeysFile ${at("user.pub")}
AuthenticationMethods publickey
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
`;
  await writeFile(at("sshd_config"), settings);
  // Its fixed empty folder, which a service manager makes otherwise.
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const server = spawn(SSHD, ["-D", "-e", "-f", at("sshd_config")], { stdio: ["ignore", "ignore", "pipe"] });
  const agent = spawn("ssh-agent", ["-D", "-a", at("agent.sock")], { stdio: ["ignore", "pipe", "ignore"] });
  await Promise.all([untilListening(server), once(agent.stdout, "data")]);
  await run("ssh-add", ["-q", at("user")], { env: { ...process.env, SSH_AUTH_SOCK: at("agent.sock") } });
  const [type, key] = (await readFile(at("host.pub"), "utf8")).split(" ");
  return {
    port,
    user: userInfo().username,
    agent: at("agent.sock"),
    knownHost: (host) => `[${host}]:${port} ${type} ${key}\n`,
    async [Symbol.asyncDispose]() {
      for (const child of [server, agent]) {
        const ended = child.exitCode === null && once(child, "exit");
        child.kill();
        if (ended) await ended;
      }
    },
  };
}

async function untilListening(server: ReturnType<typeof spawn>): Promise<void> {
  let said = "";
  for await (const chunk of server.stderr ?? []) {
    said += String(chunk);
    if (said.includes("Server listening")) {
      server.stderr?.resume();
      return;
    }
  }
  throw new Error(`sshd did not start: ${said}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
