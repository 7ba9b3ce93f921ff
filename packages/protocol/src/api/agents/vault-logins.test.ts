import { expect, test } from "vitest";
import { vaultLoginsApi } from "./vault-logins.ts";

test("a login takes no URL with a password, which lists of credentials would show", () => {
  const { body } = vaultLoginsApi["vaults.logins.create"];
  const params = { vault_id: "vlt_1", redirect_uri: "http://127.0.0.1:1/callback" };
  expect(body.safeParse({ ...params, mcp_server_url: "https://mcp.example/mcp" }).success).toBe(true);
  expect(body.safeParse({ ...params, mcp_server_url: "https://user:secret@mcp.example/mcp" }).success).toBe(false);
});
