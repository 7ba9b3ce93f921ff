import { type Egress, type EgressOptions, startEgress } from "../egress.ts";
import type { EgressRefusal } from "../egress-refusal.ts";
import { hostRules } from "../hosts/host-rules.ts";
import type { Scratch } from "./scratch.ts";

/** Counts as a public address in tests; every other one is private. */
export const PUBLIC = "127.0.0.1";

export interface EgressStage {
  egress: Egress;
  refused: EgressRefusal[];
  resolved: string[];
}

/** An egress proxy that allows `hosts` and resolves all names to 127.0.0.1. */
export async function openEgressStage(
  scratch: Scratch,
  hosts: readonly string[],
  options: Partial<EgressOptions> = {},
): Promise<EgressStage> {
  const refused: EgressRefusal[] = [];
  const resolved: string[] = [];
  const egress = await startEgress({
    socket: scratch.path("net.sock"),
    isAllowed: hostRules(hosts),
    onRefused: (refusal) => refused.push(refusal),
    resolve: async (host) => {
      resolved.push(host);
      return [PUBLIC];
    },
    isPrivate: (address) => address !== PUBLIC,
    ...options,
  });
  return { egress: scratch.use(egress), refused, resolved };
}
