import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { getCACertificates } from "node:tls";

export interface UpstreamAgents extends Disposable {
  for(protocol: string): HttpAgent;
}

/**
 * Connections to the API as Claude Code would make them outside: through the host's proxy, and with the authorities that the
 * host trusts. They are kept alive until they are disposed of.
 */
export function upstreamAgents(variables: Readonly<Record<string, string | undefined>>): UpstreamAgents {
  const plain = new HttpAgent({ keepAlive: true, proxyEnv: { ...variables } });
  let secure: HttpsAgent | undefined;
  return {
    for(protocol) {
      if (protocol !== "https:") return plain;
      return (secure ??= new HttpsAgent({ keepAlive: true, proxyEnv: { ...variables }, ca: trusted(variables) }));
    },
    [Symbol.dispose]() {
      plain.destroy();
      secure?.destroy();
    },
  };
}

function trusted(variables: Readonly<Record<string, string | undefined>>): string[] {
  const files = [variables["NODE_EXTRA_CA_CERTS"], variables["SSL_CERT_FILE"]].filter((file) => file);
  return [...getCACertificates("default"), ...getCACertificates("system"), ...files.flatMap(readCertificates)];
}

/** Claude Code ignores a file that is missing, too. */
function readCertificates(file = ""): string[] {
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}
