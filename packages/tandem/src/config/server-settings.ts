import { TandemError } from "@tandem/protocol";
import type { ServerSettings } from "@tandem/server";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Project } from "./load-project.ts";

const MIB = 1024 * 1024;
/** Time to check out a large repository before the setup of a worktree. */
const CHECKOUT_MS = 180_000;

/** Converts the config to the server's settings. `port` overrides the config. */
export async function serverSettings(
  { config: { server, worktrees }, folder, settings }: Project,
  port: number | undefined,
): Promise<Partial<ServerSettings>> {
  const { certificate, key } = server.tls;
  return {
    host: server.host,
    port: port ?? server.port,
    // An address in a trusted config is intended.
    allowRemote: settings.some(({ path }) => path === "server.host"),
    tls: certificate && key ? { cert: await readPem(folder, certificate), key: await readPem(folder, key) } : undefined,
    trustedProxy: server.trustedProxy,
    allowedHosts: server.allowedHosts,
    allowedOrigins: server.allowedOrigins,
    maxJsonBytes: server.maxBodyMb * MIB,
    maxUploadBytes: server.maxUploadMb * MIB,
    longTimeoutMs: worktrees.setupTimeout + CHECKOUT_MS,
  };
}

async function readPem(folder: string, file: string): Promise<string> {
  return readFile(resolve(folder, file), "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new TandemError("usage", `Cannot read ${file}: ${cause.code}.`, {
      fix: "Check server.tls in tandem.yaml.",
      cause,
    });
  });
}
