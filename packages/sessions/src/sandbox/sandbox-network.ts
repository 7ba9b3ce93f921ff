import { randomUUID } from "node:crypto";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  caVariables,
  openEgress,
  openPortForward,
  openPortListener,
  type EgressOptions,
  type InjectedCredential,
  type Mount,
  type SandboxPlan,
} from "@tandem/sandbox";
import type { HostSettings } from "../host/host-settings.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

const NET_SOCKET = "/run/tandem/net.sock";
const AGENT_SOCKET = "/run/tandem/ssh-agent.sock";
const PORTS_FOLDER = "/run/tandem/ports";
const CA_FILE = "/run/tandem/ca.pem";
const PROXY_PORT = 3128;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const LOCAL = "localhost,127.0.0.1,::1";

/** The parts of a plan that make hosts and local services reachable. */
export interface SandboxNetwork {
  sockets: SandboxPlan["sockets"];
  relays: SandboxPlan["relays"];
  mounts: Mount[];
  variables: Record<string, string>;
}

/** Without relays, only the model's API can be reached. */
export const NO_NETWORK: SandboxNetwork = { sockets: [], relays: [], mounts: [], variables: {} };

/** Opens the proxy for other hosts and the forwards to local services. `folder` gets their sockets. */
export async function openNetwork(
  folder: string,
  { sandbox, hostVariables }: Pick<HostSettings, "hostVariables"> & { sandbox?: SandboxSettings },
  opened: AsyncDisposableStack,
  rules: Pick<EgressOptions, "isAllowed" | "onRefused" | "answered" | "currentCredentials">,
): Promise<SandboxNetwork> {
  const { credentials, variables } = await readCredentials(sandbox?.credentials ?? []);
  const owner = sandbox?.user && { owner: sandbox.user };
  const net = join(folder, "net.sock");
  const proxy = { variables: hostVariables, byName: sandbox?.proxyNames ?? false };
  const egress = opened.use(
    await openEgress({ socket: net, ...rules, credentials, proxy, ...owner, ...sandbox?.internet }),
  );
  const services = await Promise.all(
    (sandbox?.services ?? []).map(async ({ port, to }) => {
      const socket = join(folder, `${port}.sock`);
      opened.use(await openPortForward({ socket, target: { port: to }, ...owner }));
      return { from: socket, at: `/run/tandem/${port}.sock`, port };
    }),
  );
  const agent = sandbox?.sshAgent;
  return {
    sockets: [
      { from: net, at: NET_SOCKET },
      ...services.map(({ from, at }) => ({ from, at })),
      ...(agent === undefined ? [] : [{ from: agent, at: AGENT_SOCKET }]),
    ],
    relays: [{ port: PROXY_PORT, to: NET_SOCKET }, ...services.map(({ port, at }) => ({ port, to: at }))],
    mounts: [
      ...(egress.caBundle === undefined ? [] : [{ text: egress.caBundle, at: CA_FILE }]),
      ...(agent === undefined ? [] : knownHosts(hostVariables["HOME"])),
    ],
    variables: {
      ...variables,
      HTTPS_PROXY: PROXY,
      https_proxy: PROXY,
      HTTP_PROXY: PROXY,
      http_proxy: PROXY,
      NO_PROXY: LOCAL,
      no_proxy: LOCAL,
      NODE_USE_ENV_PROXY: "1",
      ...(egress.caBundle !== undefined && caVariables(CA_FILE)),
      ...(agent !== undefined && { SSH_AUTH_SOCK: AGENT_SOCKET }),
      GIT_SSH_COMMAND: `ssh -o ProxyCommand='socat - PROXY:127.0.0.1:%h:%p,proxyport=${PROXY_PORT}'`,
    },
  };
}

/**
 * Shows servers inside at the same ports of this machine's 127.0.0.1. If another session or program has a port already, that one
 * keeps it, and this session works without.
 */
export async function exposePorts(
  folder: string,
  ports: readonly number[],
  opened: AsyncDisposableStack,
  user?: { uid: number; gid: number },
): Promise<{ exposed: NonNullable<SandboxPlan["exposed"]>; mounts: Mount[]; taken: readonly number[] }> {
  if (ports.length === 0) return { exposed: [], mounts: [], taken: [] };
  await mkdir(folder, { mode: 0o700 });
  if (user) await chown(folder, user.uid, user.gid);
  const exposed: { port: number; at: string }[] = [];
  const taken: number[] = [];
  for (const port of new Set(ports)) {
    const listener = await openPortListener({ port, socket: join(folder, `${port}.sock`) }).catch(() => undefined);
    if (!listener) {
      taken.push(port);
      continue;
    }
    opened.use(listener);
    exposed.push({ port, at: `${PORTS_FOLDER}/${port}.sock` });
  }
  return { exposed, mounts: [{ from: folder, at: PORTS_FOLDER, access: "write" }], taken };
}

/** Each value is read once per process. Programs inside see placeholders. */
async function readCredentials(
  given: NonNullable<SandboxSettings["credentials"]>,
): Promise<{ credentials: InjectedCredential[]; variables: Record<string, string> }> {
  const variables: Record<string, string> = {};
  const credentials = given.map(async ({ host, place, value }): Promise<InjectedCredential> => {
    const secret = await value();
    if (place.type === "header") return { kind: "headers", hosts: [host], headers: { [place.name]: secret } };
    const placeholder = `tandem-placeholder-${randomUUID()}`;
    variables[place.name] = placeholder;
    return { kind: "placeholder", hosts: [host], placeholder, value: secret };
  });
  return { credentials: await Promise.all(credentials), variables };
}

/** Without it, ssh would ask whether to trust a host's key. */
const knownHosts = (home: string | undefined): Mount[] =>
  home === undefined ? [] : [{ from: join(home, ".ssh", "known_hosts"), access: "read", optional: true }];
