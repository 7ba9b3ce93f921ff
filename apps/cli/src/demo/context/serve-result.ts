import { closeTimeOf, openTandem } from "@tandem/tandem";
import { openProject } from "@tandem/tandem/project";
import { once } from "node:events";
import type { Invocation } from "../../invocation.ts";
import { hasBrowser, openInBrowser } from "../../server/open-browser.ts";
import { styleFor, write } from "../../terminal.ts";
import { startDemo } from "../start-demo.ts";

/**
 * Serves the demo's project and opens the page on its proposals, until Ctrl-C. Sessions use the demo's scripted model.
 * `host` is the demo's own environment, `invocation` the user's.
 */
export async function serveResult(invocation: Invocation, host: Invocation): Promise<void> {
  const project = await openProject(host);
  await using model = await startDemo();
  invocation.allowToStop(closeTimeOf(project));
  await using tandem = await openTandem({ ...host, project, port: 0, demo: { credential: model.credential } });
  const link = new URL(await tandem.signInLink());
  link.pathname = "/context/proposals";
  const { stdout, env } = invocation;
  const isOpened = tandem.hasPage && hasBrowser(env) && (await openInBrowser(link.href, env));
  const { bold, dim } = styleFor(stdout);
  const lines = isOpened
    ? [`The page is open in your browser: ${bold(tandem.url)}`]
    : [bold(link.href), dim("Open this link in your browser. It works once, within 10 minutes.")];
  await write(
    stdout,
    `\n${lines.join("\n")}\n${dim("Review the proposals, query the shop, start a session: nothing is spent. Ctrl-C ends the server; the folder stays.")}\n`,
  );
  if (!tandem.stopRequested.aborted) await once(tandem.stopRequested, "abort");
}
