import type {
  CredentialCreateParams,
  CredentialUpdateParams,
  CredentialValidation,
  Vault,
  VaultCreateParams,
  VaultCredential,
  VaultUpdateParams,
} from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";
import type { ReadCredential, VaultReader } from "./vault-reader.ts";

/** Vaults of credentials that sessions use. Secrets go in and never come out. */
export interface Vaults {
  readonly credentials: VaultCredentials;
  /** Here and below, `by` is the caller's name for the audit. */
  create(params: VaultCreateParams, by?: string, id?: string): Promise<Vault>;
  get(id: string): Promise<Vault>;
  update(id: string, params: VaultUpdateParams, by?: string): Promise<Vault>;
  /** Archives all its credentials, too. Running sessions lose them; new sessions cannot name the vault. */
  archive(id: string, by?: string): Promise<Vault>;
  /** With all its credentials. */
  delete(id: string, by?: string): Promise<void>;
  list(query: PageQuery): Promise<Page<Vault>>;
}

export interface VaultCredentials {
  create(vault: string, params: CredentialCreateParams, by?: string, id?: string): Promise<VaultCredential>;
  get(vault: string, id: string): Promise<VaultCredential>;
  update(vault: string, id: string, params: CredentialUpdateParams, by?: string): Promise<VaultCredential>;
  /** Deletes the secrets and keeps the record; its server or variable is free for another credential. */
  archive(vault: string, id: string, by?: string): Promise<VaultCredential>;
  delete(vault: string, id: string, by?: string): Promise<void>;
  list(vault: string, query: PageQuery): Promise<Page<VaultCredential>>;
  /** Tries the credential at its MCP server. */
  validate(vault: string, id: string): Promise<CredentialValidation>;
}

/** Tries a credential of an MCP server, and refreshes it if the server refuses it. */
export type ValidateCredential = (
  credential: ReadCredential,
  reader: VaultReader,
) => Promise<Pick<CredentialValidation, "status" | "mcp_probe" | "refresh">>;
