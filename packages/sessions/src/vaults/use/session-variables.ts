import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import type { SessionEventBody } from "@tandem/protocol";
import type { HostFilter, InjectedCredential } from "@tandem/sandbox";
import type { ReadCredential, VaultReader } from "../vault-reader.ts";

type VariableAuth = Extract<ReadCredential["auth"], { type: "environment_variable" }>;
type VariableCredential = ReadCredential & { auth: VariableAuth };

/** The variables of one process of a session. Programs inside see placeholders; the proxy replaces them. */
export interface SessionVariables {
  readonly placeholders: Readonly<Record<string, string>>;
  /** The credentials as they are now: a new value, other hosts and an archived credential count at once. */
  current(): Promise<readonly InjectedCredential[]>;
  /** An error for each credential with a host that the environment does not allow. */
  unreachable(isAllowed: HostFilter): SessionEventBody[];
}

export const isVariable = (credential: ReadCredential): credential is VariableCredential =>
  credential.auth.type === "environment_variable";

/** Undefined if the vaults have no variables. `onOpened` gets each value that is read, for the redaction of the log. */
export async function openSessionVariables(
  vaultIds: readonly string[],
  reader: VaultReader,
  onOpened: (secret: string) => void,
): Promise<SessionVariables | undefined> {
  // The first vault wins.
  const byName = new Map<string, VariableCredential>();
  for (const credential of (await reader.credentials(vaultIds)).filter(isVariable)) {
    if (!byName.has(credential.auth.secret_name)) byName.set(credential.auth.secret_name, credential);
  }
  if (byName.size === 0) return undefined;
  const placeholderOf = new Map([...byName.values()].map(({ id }) => [id, `tandem-placeholder-${randomUUID()}`]));
  for (const { auth } of byName.values()) onOpened(await reader.open(auth.secret_value));
  return {
    placeholders: Object.fromEntries([...byName].map(([name, { id }]) => [name, placeholderOf.get(id)!])),
    async current() {
      const now = (await reader.credentials(vaultIds)).filter(isVariable);
      const injected = now.map(async ({ id, auth }): Promise<InjectedCredential[]> => {
        const placeholder = placeholderOf.get(id);
        if (placeholder === undefined) return [];
        const value = await reader.open(auth.secret_value);
        onOpened(value);
        return [{ kind: "placeholder", hosts: hostsOf(auth), placeholder, value, in: auth.injection_location }];
      });
      return (await Promise.all(injected)).flat();
    },
    unreachable: (isAllowed) => [...byName.values()].flatMap((credential) => unreachable(credential, isAllowed)),
  };
}

/** On every port: a credential's hosts name none, and the environment decides about ports. */
function hostsOf({ networking }: VariableAuth): HostFilter {
  if (networking.type === "unrestricted") return () => true;
  const hosts = networking.allowed_hosts.map((host) => host.toLowerCase());
  return ({ host }) =>
    hosts.some((pattern) => (pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern));
}

function unreachable({ id, vaultId, auth }: VariableCredential, isAllowed: HostFilter): SessionEventBody[] {
  if (auth.networking.type === "unrestricted") return [];
  const refused = auth.networking.allowed_hosts.filter(
    // The proxy connects to names only.
    (host) => isIP(host) !== 0 || !isAllowed({ host: host.toLowerCase().replace(/^\*/, "any"), port: 443 }),
  );
  if (refused.length === 0) return [];
  const message = `The credential for ${auth.secret_name} names hosts that the environment does not allow: ${refused.join(", ")}.`;
  return [
    {
      type: "session.error",
      error: {
        type: "credential_host_unreachable_error",
        credential_id: id,
        vault_id: vaultId,
        message,
        retry_status: { type: "exhausted" },
        tandem: {
          code: "credential_host_unreachable",
          fix: "Allow the host in the environment's networking or in sandbox.hosts, or remove it from the credential.",
        },
      },
    },
  ];
}
