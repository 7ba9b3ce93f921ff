import { addFolder, findServer, readAddedFolders } from "@tandem/tandem/server";
import { TandemError } from "@tandem/protocol";
import { canAsk, choose } from "../input/choose.ts";
import type { Invocation } from "../invocation.ts";
import { isWithin } from "../sessions/find-session.ts";

/**
 * Offers to use the server that is already running. Returns false if there is none. Without a terminal it throws, and the
 * error names the commands.
 */
export async function useRunningServer(invocation: Invocation): Promise<boolean> {
  const { env, cwd } = invocation;
  const server = await findServer(env);
  if (!server) return false;
  const name = server.demo ? "The demo" : "A server";
  const message = `${name} is already running at ${server.url} (pid ${server.pid}).`;
  const isIncluded =
    server.demo || [...server.roots, ...(await readAddedFolders(env))].some((root) => isWithin(root, cwd));
  if (!canAsk(invocation)) {
    const add = isIncluded ? "" : " Add this folder to it: `tandem folders add`.";
    throw new TandemError("already_running", message, {
      fix: `Open it: \`tandem open\`.${add} Or stop it with Ctrl-C, or set TANDEM_HOME to another folder for a second one.`,
    });
  }
  const key = isIncluded
    ? await choose(invocation, message, { o: "open its page", q: "quit" })
    : await choose(invocation, message, {
        o: "open its page",
        a: "add this folder to it and open its page",
        q: "quit",
      });
  if (key === "q") return true;
  if (key === "a") await addFolder(env, cwd);
  const { openPage } = await import("./open-page.ts");
  await openPage(invocation, { browser: true });
  return true;
}
