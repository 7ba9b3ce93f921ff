import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabNetwork } from "./lab-network.ts";
import { addressOf, type MachineName } from "./lab-machines.ts";

/** A link between two machines, or one direction of it. */
export interface Link {
  from: MachineName;
  to: MachineName;
  isOneWay?: boolean;
}

const DELAY_PROGRAM = join(import.meta.dirname, "delay-packets.ts");
const DEVICE_MS = 10_000;
const RULE_TABLE = 100;

/** Cuts, disturbs and heals links in the router. Each fault ends when it is disposed. */
export class LabLinks {
  readonly #network: LabNetwork;
  #devices = 0;

  constructor(network: LabNetwork) {
    this.#network = network;
  }

  /** Packets vanish without a sign, as with a cut cable. */
  cut(link: Link): Promise<AsyncDisposable> {
    return this.#filter(link, []);
  }

  /** Part of the packets vanishes. */
  lose(link: Link, share: number): Promise<AsyncDisposable> {
    return this.#filter(link, ["-m", "statistic", "--mode", "random", "--probability", String(share)]);
  }

  /** Holds back every packet. Connections stay. */
  async delay(link: Link, ms: number): Promise<AsyncDisposable> {
    await using parts = new AsyncDisposableStack();
    this.#devices += 1;
    const device = `slow${this.#devices}`;
    const router = this.#network.nameOf("router");
    const args = ["netns", "exec", router, process.execPath, DELAY_PROGRAM, device, String(ms)];
    const relay = spawn("/usr/sbin/ip", args, { stdio: ["pipe", "ignore", "inherit"] });
    const exited = once(relay, "exit");
    parts.defer(async () => {
      relay.stdin.end();
      await exited;
    });
    await this.#waitFor(device);
    const table = String(RULE_TABLE + this.#devices);
    await this.#network.in("router", "ip", "route", "add", "default", "dev", device, "table", table);
    for (const [from, to] of directions(link)) {
      // Packets that come back from the device take the main table.
      const rule = ["iif", from, "from", addressOf(from), "to", addressOf(to), "lookup", table];
      await this.#network.in("router", "ip", "rule", "add", ...rule);
      parts.defer(async () => void (await this.#network.in("router", "ip", "rule", "del", ...rule)));
    }
    return parts.move();
  }

  async #filter(link: Link, match: readonly string[]): Promise<AsyncDisposable> {
    await using parts = new AsyncDisposableStack();
    for (const [from, to] of directions(link)) {
      const rule = ["FORWARD", "-s", addressOf(from), "-d", addressOf(to), ...match, "-j", "DROP"];
      await this.#network.in("router", "iptables", "-w", "-A", ...rule);
      parts.defer(async () => void (await this.#network.in("router", "iptables", "-w", "-D", ...rule)));
    }
    return parts.move();
  }

  async #waitFor(device: string): Promise<void> {
    const deadline = Date.now() + DEVICE_MS;
    while (!(await this.#isUp(device))) {
      if (Date.now() > deadline) throw new Error(`The router has no tunnel device ${device}. Is socat installed?`);
      await sleep(20);
    }
  }

  async #isUp(device: string): Promise<boolean> {
    const state = await this.#network.in("router", "ip", "link", "show", "dev", device).catch(() => "");
    return /[<,]UP[,>]/.test(state);
  }
}

const directions = ({ from, to, isOneWay = false }: Link): [MachineName, MachineName][] =>
  isOneWay
    ? [[from, to]]
    : [
        [from, to],
        [to, from],
      ];

/** Why links cannot be delayed here; undefined if they can. */
export async function whyNoDelay(): Promise<string | undefined> {
  try {
    await Promise.all([access("/dev/net/tun"), access("/usr/bin/socat")]);
    return undefined;
  } catch {
    return "delays need socat and /dev/net/tun";
  }
}
