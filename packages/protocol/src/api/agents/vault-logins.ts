import { z } from "zod";
import { credential, webUrl } from "./vaults.ts";

// OAuth logins at MCP servers. Anthropic's API expects the tokens; here a person gets them in a browser.

const vaultLoginParams = z
  .strictObject({
    vault_id: z.string(),
    mcp_server_url: webUrl,
    redirect_uri: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .meta({
        description:
          "Where the browser comes back with `code` and `state`: a loopback address, or one of Tandem's page.",
      }),
    display_name: z.string().max(255).nullish(),
    client_id: z.string().min(1).max(2_048).optional().meta({
      description: "Of a client that you have registered. Default: Tandem registers one.",
    }),
    client_secret: z.string().min(1).max(65_536).optional(),
    scope: z.string().max(4_096).optional(),
  })
  .meta({ id: "VaultLoginCreate" });
export type VaultLoginParams = z.infer<typeof vaultLoginParams>;

const vaultLogin = z
  .object({
    type: z.literal("vault_login"),
    authorization_url: z.string().meta({ description: "Open it in a browser." }),
    state: z.string(),
    expires_at: z.string(),
  })
  .meta({ id: "VaultLogin" });
export type VaultLogin = z.infer<typeof vaultLogin>;

const vaultLoginFinish = z
  .strictObject({
    state: z.string().max(200),
    code: z.string().min(1).max(8_192),
    iss: z.string().max(2_048).optional(),
  })
  .meta({ id: "VaultLoginFinish" });
export type VaultLoginFinish = z.infer<typeof vaultLoginFinish>;

export const vaultLoginsApi = {
  "vaults.logins.create": { body: vaultLoginParams, response: vaultLogin },
  "vaults.logins.finish": { body: vaultLoginFinish, response: credential },
};
