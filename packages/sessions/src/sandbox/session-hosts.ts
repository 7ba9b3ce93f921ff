import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { allHosts, hostRules, type HostFilter } from "@tandem/sandbox";
import type { SessionRow } from "@tandem/storage";
import type { SessionNetworking } from "./host-grants.ts";
import type { SandboxedSettings } from "./program-sandbox.ts";

/** Registries of npm, Python, Rust, Go, Ruby and Java packages. */
const REGISTRIES = `registry.npmjs.org pypi.org files.pythonhosted.org crates.io index.crates.io static.crates.io
  proxy.golang.org sum.golang.org rubygems.org index.rubygems.org repo.maven.apache.org repo1.maven.org`.split(/\s+/);

/**
 * Hosts of git remotes that are allowed if the folder has such a remote. Other remotes need `sandbox.hosts`: an agent can create
 * a repository with any remote in a folder that had none.
 */
const GIT_HOSTS = new Set(
  "github.com gitlab.com bitbucket.org codeberg.org git.sr.ht ssh.dev.azure.com dev.azure.com".split(" "),
);

const GIT_MS = 5_000;

/** Decides which hosts the processes of a session may connect to, besides those that people allow meanwhile. */
export async function sessionHosts(
  { folder }: Pick<SessionRow, "folder">,
  { sandbox, hostVariables }: Pick<SandboxedSettings, "sandbox" | "hostVariables">,
  networking: SessionNetworking = { type: "default" },
): Promise<HostFilter> {
  switch (networking.type) {
    case "unrestricted":
      return allHosts;
    case "limited":
      return hostRules([...networking.hosts, ...(networking.packageManagers ? REGISTRIES : [])]);
    case "default": {
      const remotes = (await remoteHosts(folder, hostVariables)).filter((host) => GIT_HOSTS.has(host));
      const credentials = (sandbox?.credentials ?? []).map(({ host }) => host);
      return hostRules([...REGISTRIES, ...remotes, ...credentials, ...(sandbox?.hosts ?? [])]);
    }
  }
}

/** Reads the file alone, without the settings that it includes: nothing of the folder runs. */
async function remoteHosts(folder: string, { PATH }: SandboxedSettings["hostVariables"]): Promise<string[]> {
  const file = join(folder, ".git", "config");
  if (!existsSync(file)) return [];
  try {
    const args = ["config", "--no-includes", "--file", file, "--get-regexp", "^remote\\..*\\.url$"];
    const { stdout } = await promisify(execFile)("git", args, { env: { PATH }, cwd: "/", timeout: GIT_MS });
    return stdout.split("\n").flatMap((line) => hostOf(line.slice(line.indexOf(" ") + 1)) ?? []);
  } catch {
    return [];
  }
}

/** Of a URL, or of `user@host:path`. */
const hostOf = (url: string): string | undefined =>
  URL.parse(url)?.hostname || /^(?:[^@/\s]+@)?([^:/\s]+):/.exec(url)?.[1]?.toLowerCase();
