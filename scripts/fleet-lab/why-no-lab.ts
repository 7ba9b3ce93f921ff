import { access } from "node:fs/promises";
import type { LabSettings } from "./lab-settings.ts";
import { whyNoPostgres } from "@tandem/storage/testing";

interface Obstacle {
  problem: string;
  fix: string;
}

const PROGRAMS = ["/usr/sbin/ip", "/usr/sbin/iptables", "/usr/sbin/haproxy", "/usr/bin/unshare", "/usr/bin/setpriv"];
const PACKAGES = "iproute2, iptables, haproxy, socat, util-linux";
const PGBOUNCER = "/usr/sbin/pgbouncer";

/** Why this machine cannot build a lab; undefined if it can. */
export async function whyNoLab({ hasPgBouncer }: Pick<LabSettings, "hasPgBouncer">): Promise<Obstacle | undefined> {
  if (process.platform !== "linux") {
    return { problem: "network namespaces exist on Linux only", fix: "Run it on Linux." };
  }
  if (process.getuid?.() !== 0) {
    return { problem: "network namespaces need root", fix: "Run it as root, for example in a virtual machine." };
  }
  for (const program of [...PROGRAMS, ...(hasPgBouncer ? [PGBOUNCER] : [])]) {
    try {
      await access(program);
    } catch {
      return { problem: `${program} is missing`, fix: `Install ${PACKAGES}${hasPgBouncer ? " and pgbouncer" : ""}.` };
    }
  }
  const postgres = whyNoPostgres();
  return postgres === undefined ? undefined : { problem: postgres, fix: "Install the optional npm packages." };
}
