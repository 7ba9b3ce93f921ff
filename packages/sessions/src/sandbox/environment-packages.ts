import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { runShell } from "./run-shell.ts";
import { noteUse, serverHomes } from "./sandbox-folder.ts";
import {
  openProgramSandbox,
  type MountedPackages,
  type ProgramSession,
  type SandboxedSettings,
} from "./program-sandbox.ts";

const INSIDE = "/opt/tandem-packages";
const INSTALL_MS = 10 * 60_000;
const KEPT_MS = 30 * 24 * 60 * 60_000;
const UNFINISHED = "unfinished-";
const REGISTRY = "registry.npmjs.org";
/** Words, not code: the names are positional parameters. */
const INSTALL = 'npm install --no-audit --no-fund --no-update-notifier --loglevel=error -- "$@"';

const packagesFolder = (stateFolder: string): string => join(stateFolder, "packages");

/**
 * Installs npm packages of an environment, or finds them installed, and mounts them read-only. The installation has a sandbox
 * of its own and reaches the registry only. Rejects if it fails.
 */
export async function mountPackages(
  row: ProgramSession,
  settings: SandboxedSettings,
  names: readonly string[],
): Promise<MountedPackages> {
  if (names.length === 0) return { mounts: [], variables: {} };
  const from = join(await installed(row, settings, [...names].sort()), "node_modules");
  // A script of a package could have made a link of it, and the mount would show its target.
  if ((await realpath(from)) !== from) throw new RequestError("unavailable", `${from} is a link. Delete its folder.`);
  const { PATH = "" } = settings.hostVariables;
  return {
    mounts: [{ from, at: `${INSIDE}/node_modules`, access: "read" }],
    variables: { PATH: `${INSIDE}/node_modules/.bin:${PATH}`, NODE_PATH: `${INSIDE}/node_modules` },
  };
}

/** Sessions that start at once share one installation. */
const running = new Map<string, Promise<string>>();

async function installed(row: ProgramSession, settings: SandboxedSettings, names: readonly string[]): Promise<string> {
  // Programs of packages are made for one version of Node and one processor.
  const key = JSON.stringify([names, settings.hostVariables["PATH"], process.arch]);
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 24);
  const parent = packagesFolder(settings.stateFolder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = join(await realpath(parent), hash);
  if (existsSync(folder)) {
    await noteUse(folder, settings.clock).catch(() => undefined);
    return folder;
  }
  const known = running.get(folder);
  if (known) return known;
  const work = install(row, settings, names, folder).finally(() => running.delete(folder));
  running.set(folder, work);
  return work;
}

async function install(
  row: ProgramSession,
  settings: SandboxedSettings,
  names: readonly string[],
  folder: string,
): Promise<string> {
  const base = join(packagesFolder(settings.stateFolder), `${UNFINISHED}${randomUUID()}`);
  const [prefix, home] = [join(base, "prefix"), join(base, "home")];
  try {
    await mkdir(prefix, { recursive: true, mode: 0o700 });
    await noteUse(base, settings.clock);
    await writeFile(join(prefix, "package.json"), "{}\n");
    const registry = settings.hostVariables["npm_config_registry"] ?? settings.hostVariables["NPM_CONFIG_REGISTRY"];
    const host = (registry && URL.parse(registry)?.host) || REGISTRY;
    await using sandbox = await openProgramSandbox(row, settings, {
      home,
      folder: prefix,
      extra: [],
      isAllowed: async () => {
        const { hostRules } = await import("@tandem/sandbox");
        // A registry on this machine is a service of the sandbox, and needs no rule.
        return hostRules(/^(?:localhost|[\d.]+|\[.*)(?::\d+)?$/.test(host) ? [] : [host]);
      },
      network: settings.sandbox ?? {},
      write: () => {},
    });
    if (!sandbox) throw new RequestError("unavailable", "Packages of environments need the sandbox, which is off.");
    const { stateFolder, hostVariables } = settings;
    const variables: Record<string, string> = registry === undefined ? {} : { npm_config_registry: registry };
    const place = { folder: prefix, stateFolder, hostVariables, variables, sandbox, timeoutMs: INSTALL_MS };
    const { exitCode, output } = await runShell(INSTALL, { ...place, words: names });
    if (exitCode !== 0) throw failed(names, exitCode, output);
    // Packages without dependencies of their own may have no programs.
    await mkdir(join(prefix, "node_modules", ".bin"), { recursive: true });
    await noteUse(prefix, settings.clock);
    await rename(prefix, folder).catch((error: unknown) => {
      // Another process of a fleet was first.
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

const failed = (names: readonly string[], exitCode: number | null, output: string): RequestError => {
  const lines = output
    .split("\n")
    .filter((line) => /^npm (?:error|ERR!)/.test(line) && !/ (?:A complete log|code )/.test(line));
  const why = (lines.length > 0 ? lines.slice(0, 3).join(" ") : output.trim().slice(-300)).replaceAll(
    /npm (?:error|ERR!) ?/g,
    "",
  );
  return new RequestError(
    "unavailable",
    `The packages of the environment were not installed (npm ended with ${exitCode ?? "a signal"}): ${why}`,
    { fix: `Check the names (${names.join(", ")}) and the registry, or remove them from the environment.` },
  );
};

/**
 * Deletes unfinished installations of processes that died, and packages and homes of MCP servers that no session has used for a
 * month.
 */
export async function prunePackages(stateFolder: string, now: number): Promise<void> {
  await pruneUnused(packagesFolder(stateFolder), now);
  await pruneUnused(serverHomes(stateFolder), now);
}

async function pruneUnused(parent: string, now: number): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const folder = join(parent, name);
    const used = await stat(folder).then(
      ({ mtimeMs }) => mtimeMs,
      () => now,
    );
    const age = now - used;
    if (age > KEPT_MS || (name.startsWith(UNFINISHED) && age > INSTALL_MS * 2)) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
