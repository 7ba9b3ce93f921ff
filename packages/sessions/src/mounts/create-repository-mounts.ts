import { RequestError } from "@tandem/protocol";
import { DEFAULT_TENANT, type SecretBox, type Store } from "@tandem/storage";
import { OwnerUrls } from "../mcp/owner-urls.ts";
import type { McpSettings } from "../mcp/mcp-settings.ts";
import type { SandboxedSettings } from "../sandbox/program-sandbox.ts";
import type { RepositoryMounts } from "./mount-repositories.ts";
import { RepositoryTokens } from "./repository-tokens.ts";

interface RepositorySettings extends SandboxedSettings, Pick<McpSettings, "publicMcpServers"> {
  tenant?: string;
  readSecret?: (reference: string) => Promise<string>;
}

/** How the repositories of sessions are cloned. */
export function createRepositoryMounts(
  store: Store,
  secrets: SecretBox,
  settings: RepositorySettings,
  resolveFolder: (path: string) => Promise<string>,
): RepositoryMounts {
  return {
    tokens: new RepositoryTokens(store.records, secrets, async (reference) => {
      // A reference runs programs and reads files of this machine, which is not the other tenants'.
      const isOwner = (settings.tenant ?? DEFAULT_TENANT) === DEFAULT_TENANT;
      if (settings.readSecret && isOwner) return settings.readSecret(reference);
      throw new RequestError("not_supported", `${reference} cannot be read here.`);
    }),
    ownerUrls: new OwnerUrls(store),
    resolveFolder,
    hostVariables: settings.hostVariables,
    stateFolder: settings.stateFolder,
    user: settings.sandbox?.user,
    publicOnly: settings.publicMcpServers ?? false,
  };
}
