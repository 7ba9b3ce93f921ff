import { TandemError, type VaultCredential } from "@tandem/protocol";
import { localActor } from "@tandem/tandem/project";
import type { Invocation } from "../invocation.ts";
import { hasBrowser, openInBrowser } from "../server/open-browser.ts";
import type { SessionsClient } from "../sessions/sessions-client.ts";
import { openCodeReceiver } from "./receive-code.ts";

export interface LoginFlags {
  clientId?: string;
  clientSecretEnv?: string;
  scope?: string;
  name?: string;
  port?: number;
  browser: boolean;
}

/** Logs in at an MCP server in the browser. The server of Tandem exchanges the code: this command never sees a token. */
export async function logIn(
  invocation: Invocation,
  client: SessionsClient,
  vault: string,
  url: string,
  flags: LoginFlags,
): Promise<VaultCredential> {
  const { env, signal, stderr } = invocation;
  const secret = clientSecret(flags, env);
  await using receiver = await openCodeReceiver(flags.port ?? 0);
  const by = { id: "local", name: localActor() };
  const login = await client.vaultLogins.start(
    {
      vault_id: vault,
      mcp_server_url: url,
      redirect_uri: receiver.redirectUri,
      ...(flags.name !== undefined && { display_name: flags.name }),
      ...(flags.clientId !== undefined && { client_id: flags.clientId }),
      ...(secret !== undefined && { client_secret: secret }),
      ...(flags.scope !== undefined && { scope: flags.scope }),
    },
    by,
  );
  const link = login.authorization_url;
  const isOpened = flags.browser && hasBrowser(env) && (await openInBrowser(link, env));
  stderr.write(`${isOpened ? "Agree in your browser. If it did not open" : "To agree"}, open this page:\n${link}\n`);
  return client.vaultLogins.finish(await receiver.receive(login.state, signal), by);
}

function clientSecret({ clientId, clientSecretEnv: name }: LoginFlags, env: Invocation["env"]): string | undefined {
  if (name === undefined) return undefined;
  if (clientId === undefined) {
    throw new TandemError("usage", "--client-secret-env needs --client-id.", { fix: "Add --client-id ID." });
  }
  const secret = env[name]?.trim();
  if (secret) return secret;
  throw new TandemError("usage", `The variable ${name} is not set.`, { fix: "Set it, and run the command again." });
}
