import { TandemError, type Config } from "@tandem/protocol";
import type { SandboxSettings } from "@tandem/sessions";
import { isInside } from "@tandem/workspace";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { tandemHome, trustHome, type Variables } from "../config/tandem-home.ts";

/** The engine's form of the `sandbox` section. Throws if a mount would show the home or Tandem's folder. */
export function engineSandbox(
  env: Variables,
  sandbox: Config["sandbox"],
  readSecret: (reference: string) => Promise<string>,
): SandboxSettings {
  const { mode, hosts, mounts, services, ports, limits, credentials, sshAgent, proxyNames } = sandbox;
  const agent = env["SSH_AUTH_SOCK"];
  return {
    mode,
    hosts,
    mounts: checkedMounts(env, "sandbox.mounts", mounts),
    services: services.map(({ port, to = port }) => ({ port, to })),
    ports,
    proxyNames,
    limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
    credentials: credentials.map(({ host, header, variable, value }) => ({
      host,
      place: header === undefined ? { type: "variable", name: variable ?? "" } : { type: "header", name: header },
      value: () => readSecret(value),
    })),
    ...(sshAgent && agent !== undefined && { sshAgent: agent }),
  };
}

/** Mounts with absolute paths. `key` names the setting in errors. */
export const checkedMounts = (
  env: Variables,
  key: string,
  mounts: Config["sandbox"]["mounts"],
): { path: string; write: boolean }[] =>
  mounts.map(({ path, write }) => ({ path: checkedMount(env, key, path), write }));

function checkedMount(env: Variables, key: string, path: string): string {
  const home = env["HOME"] || homedir();
  const absolute = path.startsWith("~/") ? join(home, path.slice(2)) : path;
  const real = realPath(absolute);
  // A tenant's HOME is another than that of the user who runs the server.
  if ([home, homedir()].some((folder) => isInside(real, realPath(folder))))
    throw refused(key, path, "it would show the whole home");
  for (const folder of new Set([tandemHome(env), trustHome(env)].map(realPath))) {
    if (isInside(folder, real) || isInside(real, folder)) {
      throw refused(key, path, `it would show Tandem's own folder (${folder}), which has tokens and other sessions`);
    }
  }
  return absolute;
}

const refused = (key: string, path: string, reason: string) =>
  new TandemError("config_invalid", `${key}: ${path} cannot be mounted: ${reason}.`, {
    fix: "Name the folders that are needed, such as ~/.cargo.",
  });

/** Resolves symlinks. A path that does not exist is returned as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A path that does not exist yet has no links.
    return path;
  }
}
