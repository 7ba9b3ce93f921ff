import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabNetwork } from "../lab-network.ts";
import { addressOf, type MachineName } from "../lab-machines.ts";

/** A link between two machines, or one direction of it. */
export interface Link {
  from: MachineName;
  to: MachineName;
  isOneWay?: boolean;
}

/** A disturbed link. Disposing it heals the link. */
export interface LinkFault extends AsyncDisposable {
  /** How many packets it has met so far. */
  met(): Promise<number>;
}

const DELAY_PROGRAM = join(import.meta.dirname, "delay-packets.ts");
const DEVICE_MS = 10_000;
const RULE_TABLE = 100;

/** Cuts, disturbs and heals links in the router. Each fault ends when it is disposed. */
export class LabLinks {
  readonly #network: LabNetwork;
  #devices = 0;
  #faults = 0;

  constructor(network: LabNetwork) {
    this.#network = network;
  }

  /** Packets vanish without a sign, as with a cut cable. */
  cut(link: Link): Promise<LinkFault> {
    return this.#filter(directions(link).map(([from, to]) => ["-s", addressOf(from), "-d", addressOf(to)]));
  }

  /** No packet leaves or reaches a machine, so that others cannot notice the end of its processes. */
  isolate(machine: MachineName): Promise<LinkFault> {
    return this.#filter(["-s", "-d"].map((side) => [side, addressOf(machine)]));
  }

  /** Part of the packets vanishes. */
  lose(link: Link, share: number): Promise<LinkFault> {
    const some = ["-m", "statistic", "--mode", "random", "--probability", String(share)];
    return this.#filter(directions(link).map(([from, to]) => ["-s", addressOf(from), "-d", addressOf(to), ...some]));
  }

  /** Holds back every packet. Connections stay. */
  async delay(link: Link, ms: number): Promise<LinkFault> {
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
    return linkFault(parts, async () =>
      Number(await this.#network.in("router", "cat", `/sys/class/net/${device}/statistics/tx_packets`)),
    );
  }

  /** Drops the packets that match one of the rules. */
  async #filter(matches: readonly string[][]): Promise<LinkFault> {
    await using parts = new AsyncDisposableStack();
    this.#faults += 1;
    const chain = `fault-${this.#faults}`;
    const change = (...args: readonly string[]) => this.#network.in("router", "iptables", "-w", ...args);
    await change("-N", chain);
    parts.defer(async () => void (await change("-X", chain)));
    await change("-A", chain, "-j", "DROP");
    parts.defer(async () => void (await change("-F", chain)));
    for (const match of matches) {
      const rule = ["FORWARD", ...match, "-j", chain];
      await change("-A", ...rule);
      parts.defer(async () => void (await change("-D", ...rule)));
    }
    return linkFault(parts, async () => Number(/(\d+) +\d+ +DROP/.exec(await change("-nvxL", chain))?.[1] ?? 0));
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

function linkFault(parts: AsyncDisposableStack, met: () => Promise<number>): LinkFault {
  const held = parts.move();
  return { met, [Symbol.asyncDispose]: () => held.disposeAsync() };
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
