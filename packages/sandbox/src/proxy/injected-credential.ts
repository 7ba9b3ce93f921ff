import { escapedForms } from "./escape-value.ts";
import { type HostFilter, hostRules } from "./hosts/host-rules.ts";
import type { HeaderPair } from "./request-headers.ts";
import type { Target } from "./hosts/host-name.ts";

/** A credential that the proxy adds outside of the sandbox, to HTTPS requests for certain hosts only. */
export type InjectedCredential =
  /** Sets these headers, instead of the client's. */
  | { kind: "headers"; hosts: CredentialHosts; headers: Readonly<Record<string, string>> }
  /**
   * Programs inside have `placeholder` in a variable. The proxy replaces it by `value`: in headers, also in Basic ones, unless `in`
   * names other places.
   */
  | {
      kind: "placeholder";
      hosts: CredentialHosts;
      placeholder: string;
      value: string;
      in?: { header: boolean; body: boolean };
    };

type CredentialHosts = readonly string[] | HostFilter;

/** Applies credentials to the requests for their hosts. */
export class CredentialInjector {
  readonly #all: readonly { credential: InjectedCredential; covers: HostFilter }[];

  /** Throws a `SandboxError` for an invalid host pattern. */
  constructor(credentials: readonly InjectedCredential[]) {
    this.#all = credentials.map((credential) => ({
      credential,
      covers: typeof credential.hosts === "function" ? credential.hosts : hostRules(credential.hosts),
    }));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  for(target: Target): readonly InjectedCredential[] {
    return this.#all.filter(({ covers }) => covers(target)).map(({ credential }) => credential);
  }
}

export function injectHeaders(pairs: readonly HeaderPair[], credentials: readonly InjectedCredential[]): HeaderPair[] {
  let result = [...pairs];
  for (const credential of credentials) {
    if (credential.kind === "placeholder") {
      if (credential.in && !credential.in.header) continue;
      result = result.map(([name, value]) => [name, swap(value, credential)]);
      continue;
    }
    const added = Object.entries(credential.headers).map(([name, value]): HeaderPair => [name.toLowerCase(), value]);
    const names = new Set(added.map(([name]) => name));
    result = [...result.filter(([name]) => !names.has(name)), ...added];
  }
  return result;
}

/** Everything that must not come back: the values, and the headers in which they were sent. */
export function injectedSecrets(sent: readonly HeaderPair[], credentials: readonly InjectedCredential[]): string[] {
  const values = credentials.flatMap((each) =>
    each.kind === "headers" ? Object.values(each.headers) : escapedForms(each.value),
  );
  const bare = values.flatMap((value) => [value, value.replace(/^\w+ +/, "")]);
  const basic = sent
    .filter(([name]) => name === "authorization")
    .map(([, value]) => /^basic +(\S+)$/i.exec(value)?.[1])
    .filter((value) => value !== undefined)
    .filter((value) => bare.some((secret) => Buffer.from(value, "base64").includes(secret)));
  return [...new Set([...bare, ...basic])];
}

function swap(text: string, { placeholder, value }: { placeholder: string; value: string }): string {
  const [, scheme, encoded] = /^(basic +)([\w+/=-]+)$/i.exec(text) ?? [];
  if (scheme !== undefined && encoded !== undefined) {
    const decoded = Buffer.from(encoded, "base64").toString();
    if (decoded.includes(placeholder)) {
      return scheme + Buffer.from(decoded.replaceAll(placeholder, () => value)).toString("base64");
    }
  }
  return text.replaceAll(placeholder, () => value);
}
