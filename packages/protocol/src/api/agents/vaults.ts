import { z } from "zod";
import { CREDENTIAL_STATES } from "../../words.ts";
import { metadata, metadataUpdate } from "./agents.ts";
import { deletedOf, includeArchived, pageOf, pageQuery, time } from "../page.ts";

// Vaults in the shapes of Anthropic's Managed Agents API. Secrets are only in requests: no response has a field for them.

const displayName = z.string().min(1).max(255);

const vaultCreateParams = z
  .strictObject({ display_name: displayName, metadata: metadata.optional() })
  .meta({ id: "VaultCreate" });
export type VaultCreateParams = z.infer<typeof vaultCreateParams>;

const vaultUpdateParams = z
  .strictObject({ display_name: displayName.nullish(), metadata: metadataUpdate })
  .meta({ id: "VaultUpdate" });
export type VaultUpdateParams = z.infer<typeof vaultUpdateParams>;

const vault = z
  .object({
    type: z.literal("vault"),
    id: z.string(),
    display_name: z.string(),
    metadata: z.record(z.string(), z.string()),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "Vault" });
export type Vault = z.infer<typeof vault>;

const MAX_SECRET = 64 * 1024;
/** One line: a stray line break would make the HTTP client fail with a message that contains the token. */
const token = z
  .string()
  .max(MAX_SECRET)
  .regex(/^[\x21-\x7e]+$/, "expected one line of printable characters without spaces");
const secret = z.string().min(1).max(MAX_SECRET);

export const webUrl = z
  .string()
  .max(2_048)
  .refine((text) => ["http:", "https:"].includes(URL.parse(text)?.protocol ?? ""), "expected an http or https URL")
  .refine((text) => {
    const url = URL.parse(text);
    return url?.username === "" && url.password === "";
  }, "a URL with a user name or password would be shown in lists");

const host = z
  .string()
  .max(253)
  .regex(
    /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i,
    "expected a bare host name, an IPv4 address or *.example.com: no URL, port, path or IPv6 address",
  );

const networking = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("unrestricted") }),
  z.strictObject({ type: z.literal("limited"), allowed_hosts: z.array(host).max(16) }),
]);

const injectionLocation = z.strictObject({ header: z.boolean().optional(), body: z.boolean().optional() });

const tokenEndpointAuth = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("none") }),
  z.strictObject({ type: z.literal("client_secret_basic"), client_secret: secret }),
  z.strictObject({ type: z.literal("client_secret_post"), client_secret: secret }),
]);

const authCreateParams = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("static_bearer"), mcp_server_url: webUrl, token }),
  z.strictObject({
    type: z.literal("mcp_oauth"),
    mcp_server_url: webUrl,
    access_token: token,
    expires_at: time.nullish(),
    refresh: z
      .strictObject({
        client_id: z.string().min(1).max(2_048),
        refresh_token: token,
        token_endpoint: webUrl,
        token_endpoint_auth: tokenEndpointAuth,
        resource: z.string().max(2_048).nullish(),
        scope: z.string().max(4_096).nullish(),
      })
      .nullish(),
  }),
  z.strictObject({
    type: z.literal("environment_variable"),
    secret_name: z
      .string()
      .max(255)
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of a variable: letters, digits and _"),
    secret_value: secret,
    networking,
    injection_location: injectionLocation.optional(),
  }),
]);
export type CredentialAuthParams = z.infer<typeof authCreateParams>;

/** A field that the official client does not have in an update either. */
const fixed = z.never({ error: "it cannot be changed; create another credential" }).optional();

const updatedEndpointAuth = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("client_secret_basic"), client_secret: secret.nullish() }),
  z.strictObject({ type: z.literal("client_secret_post"), client_secret: secret.nullish() }),
]);

const authUpdateParams = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("static_bearer"), mcp_server_url: fixed, token: token.nullish() }),
  z.strictObject({
    type: z.literal("mcp_oauth"),
    mcp_server_url: fixed,
    access_token: token.nullish(),
    expires_at: time.nullish(),
    refresh: z
      .strictObject({
        client_id: fixed,
        token_endpoint: fixed,
        refresh_token: token.nullish(),
        scope: z.string().max(4_096).nullish(),
        token_endpoint_auth: updatedEndpointAuth.optional(),
      })
      .nullish(),
  }),
  z.strictObject({
    type: z.literal("environment_variable"),
    secret_name: fixed,
    secret_value: secret.nullish(),
    networking: networking.nullish(),
    injection_location: injectionLocation.optional(),
  }),
]);
export type CredentialAuthUpdate = z.infer<typeof authUpdateParams>;

const credentialCreateParams = z
  .strictObject({
    auth: authCreateParams,
    display_name: z.string().max(255).nullish(),
    metadata: metadata.optional(),
  })
  .meta({ id: "VaultCredentialCreate" });
export type CredentialCreateParams = z.infer<typeof credentialCreateParams>;

const credentialUpdateParams = z
  .strictObject({
    auth: authUpdateParams.optional(),
    display_name: displayName.nullish(),
    metadata: metadataUpdate,
  })
  .meta({ id: "VaultCredentialUpdate" });
export type CredentialUpdateParams = z.infer<typeof credentialUpdateParams>;

/** A credential without its secrets; also the form in which it is stored beside them. */
export const credentialAuth = z.discriminatedUnion("type", [
  z.object({ type: z.literal("static_bearer"), mcp_server_url: z.string() }),
  z.object({
    type: z.literal("mcp_oauth"),
    mcp_server_url: z.string(),
    expires_at: z.string().nullable(),
    refresh: z
      .object({
        client_id: z.string(),
        token_endpoint: z.string(),
        token_endpoint_auth: z.object({ type: z.enum(["none", "client_secret_basic", "client_secret_post"]) }),
        resource: z.string().nullable(),
        scope: z.string().nullable(),
      })
      .nullable(),
  }),
  z.object({
    type: z.literal("environment_variable"),
    secret_name: z.string(),
    networking: z.discriminatedUnion("type", [
      z.object({ type: z.literal("unrestricted") }),
      z.object({ type: z.literal("limited"), allowed_hosts: z.array(z.string()) }),
    ]),
    injection_location: z.object({ header: z.boolean(), body: z.boolean() }),
  }),
]);
export type VaultCredentialAuth = z.infer<typeof credentialAuth>;

export const credential = z
  .object({
    type: z.literal("vault_credential"),
    id: z.string(),
    vault_id: z.string(),
    display_name: z.string().nullable(),
    auth: credentialAuth,
    metadata: z.record(z.string(), z.string()),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
    tandem: z.object({
      state: z.enum(CREDENTIAL_STATES),
      checked_at: z.string().nullable().meta({ description: "The time of the last validation or failed refresh." }),
    }),
  })
  .meta({ id: "VaultCredential" });
export type VaultCredential = z.infer<typeof credential>;

const capturedResponse = z.object({
  status_code: z.int(),
  content_type: z.string(),
  body: z.string().meta({ description: "Truncated, and without secrets." }),
  body_truncated: z.boolean(),
});
export type CapturedResponse = z.infer<typeof capturedResponse>;

const credentialValidation = z
  .object({
    type: z.literal("vault_credential_validation"),
    credential_id: z.string(),
    vault_id: z.string(),
    status: z.enum(["valid", "invalid", "unknown"]),
    has_refresh_token: z.boolean(),
    mcp_probe: z.object({ method: z.string(), http_response: capturedResponse.nullable() }).nullable(),
    refresh: z
      .object({
        status: z.enum(["succeeded", "failed", "connect_error", "no_refresh_token"]),
        http_response: capturedResponse.nullable(),
      })
      .nullable(),
    validated_at: z.string(),
  })
  .meta({ id: "VaultCredentialValidation" });
export type CredentialValidation = z.infer<typeof credentialValidation>;

const listQuery = z.strictObject({ ...pageQuery, ...includeArchived });

export const vaultsApi = {
  "vaults.create": { body: vaultCreateParams, response: vault },
  "vaults.list": { query: listQuery, response: pageOf(vault) },
  "vaults.retrieve": { response: vault },
  "vaults.update": { body: vaultUpdateParams, response: vault },
  "vaults.delete": { response: deletedOf("vault_deleted") },
  "vaults.archive": { response: vault },
  "vaults.credentials.create": { body: credentialCreateParams, response: credential },
  "vaults.credentials.list": { query: listQuery, response: pageOf(credential) },
  "vaults.credentials.retrieve": { response: credential },
  "vaults.credentials.update": { body: credentialUpdateParams, response: credential },
  "vaults.credentials.delete": { response: deletedOf("vault_credential_deleted") },
  "vaults.credentials.archive": { response: credential },
  "vaults.credentials.mcpOAuthValidate": { response: credentialValidation },
};
