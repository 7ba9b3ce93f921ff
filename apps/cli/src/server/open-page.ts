import { SIGN_IN_CODES_PATH, signInCode, type SignInCodeParams, TandemError } from "@tandem/protocol";
import { findServer } from "@tandem/tandem/server";
import type { Invocation } from "../invocation.ts";
import { ServerConnection } from "../sessions/server-connection.ts";
import { styleFor, write, writeJson } from "../terminal.ts";
import { hasBrowser, openInBrowser } from "./open-browser.ts";

/** Creates a sign-in link to the running server's page, valid once and for ten minutes. */
export async function openPage(
  invocation: Invocation,
  { browser, tenant, as: name }: { browser: boolean; tenant?: string; as?: string },
): Promise<void> {
  const server = await findServer(invocation.env);
  if (!server) {
    throw new TandemError("not_running", "No server is running.", { fix: "Start one: tandem up" });
  }
  using connection = await ServerConnection.open(server);
  const answer = await connection.api.request("POST", SIGN_IN_CODES_PATH, { tenant, name } satisfies SignInCodeParams);
  const { code, expires_at } = signInCode.parse(await answer.json());
  const link = `${server.url}/#code=${code}`;
  const { stdout, json, env } = invocation;
  if (json) return writeJson(stdout, { link, expires_at });
  const opened = browser && stdout.isTTY && hasBrowser(env) && (await openInBrowser(link, env));
  const { dim } = styleFor(stdout);
  await write(
    stdout,
    opened ? dim("The page is open in your browser.\n") : `${link}\n${dim("Works once, within 10 minutes.")}\n`,
  );
  if (server.demo) await write(stdout, dim("This is the demo: scripted answers, no cost.\n"));
}
