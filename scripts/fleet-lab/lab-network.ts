import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { addressOf, gatewayOf, MACHINES, type MachineName, uidOf } from "./lab-machines.ts";

const run = promisify(execFile);
const PREFIX = "tandem-lab-";
/** `ip netns exec` binds the files of this folder over those of /etc. */
const FILES = "/etc/netns";
/** One file for each running lab: the id of its process and its folder. */
const LABS = "/run/tandem-lab";
const IP = "/usr/sbin/ip";

/** The network namespaces of one lab. They reach each other through a router, and nothing else. */
export class LabNetwork {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  static async create(id: string, folder: string): Promise<LabNetwork> {
    const network = new LabNetwork(id);
    await mkdir(LABS, { recursive: true });
    await writeFile(join(LABS, id), `${process.pid} ${folder}\n`);
    await network.#createRouter();
    for (const machine of MACHINES) await network.#createMachine(machine);
    // The observer's servers listen on loopback.
    await network.in("client", "sysctl", "-qw", "net.ipv4.conf.eth0.route_localnet=1");
    const toLoopback = ["-i", "eth0", "-p", "tcp", "-j", "DNAT", "--to-destination", "127.0.0.1"];
    await network.in("client", "iptables", "-t", "nat", "-A", "PREROUTING", ...toLoopback);
    return network;
  }

  nameOf(machine: MachineName | "router"): string {
    return `${PREFIX}${this.id}-${machine}`;
  }

  /** Runs a program as root in a machine. */
  async in(machine: MachineName | "router", ...command: readonly string[]): Promise<string> {
    return (await run(IP, ["netns", "exec", this.nameOf(machine), ...command])).stdout;
  }

  /** Kills all processes of a machine at once. */
  async killAll(machine: MachineName): Promise<void> {
    for (const pid of await processesIn(this.nameOf(machine))) killProcess(pid);
  }

  /** Ends all processes in the namespaces and removes them. */
  async remove(): Promise<void> {
    await removeNamespaces((name) => name.startsWith(`${PREFIX}${this.id}-`));
    const folder = await folderOf(this.id);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    await rm(join(LABS, this.id), { force: true });
  }

  async #createRouter(): Promise<void> {
    await ip("netns", "add", this.nameOf("router"));
    await ip("-n", this.nameOf("router"), "link", "set", "lo", "up");
    const settings = ["net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"];
    await this.in("router", "sysctl", "-qw", ...settings);
  }

  async #createMachine(machine: MachineName): Promise<void> {
    const name = this.nameOf(machine);
    const router = this.nameOf("router");
    await this.#writeFiles(machine);
    await ip("netns", "add", name);
    await ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", machine, "netns", router);
    await ip("-n", router, "addr", "add", `${gatewayOf(machine)}/24`, "dev", machine);
    await ip("-n", router, "link", "set", machine, "up");
    await ip("-n", name, "addr", "add", `${addressOf(machine)}/24`, "dev", "eth0");
    await ip("-n", name, "link", "set", "eth0", "up");
    await ip("-n", name, "link", "set", "lo", "up");
    await ip("-n", name, "route", "add", "default", "via", gatewayOf(machine));
    // The kernel soon forgets the connections of killed processes, as if the machine itself had lost its power.
    await this.in(machine, "sysctl", "-qw", "net.ipv4.tcp_orphan_retries=1");
  }

  async #writeFiles(machine: MachineName): Promise<void> {
    const folder = join(FILES, this.nameOf(machine));
    await mkdir(folder, { recursive: true });
    const uid = uidOf(machine);
    const hosts = MACHINES.map((one) => `${addressOf(one)} ${one}`);
    await writeFile(join(folder, "hosts"), `${["127.0.0.1 localhost", ...hosts].join("\n")}\n`);
    await writeFile(join(folder, "resolv.conf"), "nameserver 127.0.0.1\n");
    const users = ["root:x:0:0:root:/root:/bin/sh", `tandem:x:${uid}:${uid}:${machine}:/:/bin/sh`];
    await writeFile(join(folder, "passwd"), `${users.join("\n")}\n`);
    await writeFile(join(folder, "group"), `root:x:0:\ntandem:x:${uid}:\n`);
  }
}

/** Removes labs whose process has ended without removing them. Returns their ids. */
export async function removeLeftLabs(): Promise<string[]> {
  const recorded = await readdir(LABS).catch(() => []);
  const named = (await namespaces()).map((name) => name.slice(PREFIX.length).split("-")[0]!);
  const left: string[] = [];
  for (const id of new Set([...recorded, ...named])) {
    if (await isRunning(id)) continue;
    await new LabNetwork(id).remove();
    left.push(id);
  }
  return left;
}

const ip = (...args: readonly string[]) => run(IP, [...args]);

async function namespaces(): Promise<string[]> {
  const { stdout } = await run(IP, ["-j", "netns", "list"]);
  const all = (stdout.trim() === "" ? [] : JSON.parse(stdout)) as { name: string }[];
  return all.map(({ name }) => name).filter((name) => name.startsWith(PREFIX));
}

async function removeNamespaces(isOwn: (name: string) => boolean): Promise<void> {
  for (const name of (await namespaces()).filter(isOwn)) {
    for (const pid of await processesIn(name)) killProcess(pid);
    await ip("netns", "del", name);
  }
  for (const name of (await readdir(FILES).catch(() => [])).filter(isOwn)) {
    await rm(join(FILES, name), { recursive: true, force: true });
  }
}

async function processesIn(name: string): Promise<number[]> {
  const { stdout } = await run(IP, ["netns", "pids", name]);
  return stdout.split("\n").filter(Boolean).map(Number);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited.
  }
}

async function isRunning(id: string): Promise<boolean> {
  const pid = Number((await recordOf(id))?.[0]);
  try {
    return pid > 0 && (await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("fleet-lab");
  } catch {
    return false;
  }
}

const folderOf = async (id: string): Promise<string | undefined> => (await recordOf(id))?.[1];

const recordOf = async (id: string): Promise<string[] | undefined> =>
  (await readFile(join(LABS, id), "utf8").catch(() => undefined))?.trim().split(" ");
