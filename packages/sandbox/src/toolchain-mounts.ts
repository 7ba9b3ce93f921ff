import { existsSync, globSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, join, normalize } from "node:path";
import { isBelow } from "./check-destinations.ts";
import type { HostMount, Mount } from "./sandbox-plan.ts";

/** Programs of version managers in the home. Folders with credentials or caches beside them are not here. */
const IN_HOME =
  `.nvm .fnm .local/share/fnm .volta/bin .volta/tools .cargo/bin .cargo/env .rustup .pyenv .rbenv .rvm .nodenv .goenv
  .jenv .asdf .local/share/mise/installs .local/share/mise/shims .local/share/mise/plugins .bun/bin .bun/install/global
  .deno/bin go/bin sdk .sdkman/bin .sdkman/src .sdkman/libexec .sdkman/etc .sdkman/var .sdkman/candidates .local/bin .local/lib
  .local/share/pipx/venvs .local/share/uv/tools .local/share/uv/python .npm-global/bin .npm-global/lib .yarn/bin
  .poetry/bin .juliaup .ghcup/bin .opam .dotnet/dotnet .dotnet/sdk .dotnet/shared .dotnet/host .dotnet/tools
  .composer/vendor .config/composer/vendor`.split(/\s+/);

/** Settings of npm and pip for one version, which may contain tokens. Shown empty. */
const SECRETS = `.nvm/versions/node/*/etc/npmrc .fnm/node-versions/*/installation/etc/npmrc
  .local/share/fnm/node-versions/*/installation/etc/npmrc .volta/tools/image/node/*/etc/npmrc .nodenv/versions/*/etc/npmrc
  .asdf/installs/nodejs/*/etc/npmrc .asdf/installs/nodejs/*/.npm/etc/npmrc .local/share/mise/installs/node/*/etc/npmrc
  .pyenv/versions/*/pip.conf .pyenv/versions/*/etc/pip.conf .asdf/installs/python/*/pip.conf
  .local/share/mise/installs/python/*/pip.conf`.split(/\s+/);

/** Folders below which each folder is one installed program. */
const INSTALLED = ["/opt", "/home/linuxbrew"];
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib"];

export interface ToolchainPlace {
  home: string;
  path: string;
  /** Not shown, whatever PATH says: Tandem's own folder. */
  hidden: readonly string[];
}

/** Programs outside of the system folders: those in PATH and the usual version managers, read-only. */
export function toolchainMounts({ home, path, hidden }: ToolchainPlace): Mount[] {
  const mounts: HostMount[] = [];
  const add = (at: string, from = realpathSync(at)): void => {
    const isHidden = isBelow(home, from) || hidden.some((folder) => isBelow(folder, from) || isBelow(from, folder));
    const isCovered = mounts.some((each) => isBelow(at, each.at ?? each.from));
    if (!isHidden && !isCovered) mounts.push({ from, at, access: "read", optional: true });
  };
  for (const name of IN_HOME) if (existsSync(join(home, name))) add(join(home, name));
  for (const folder of foldersInPath(path)) {
    if (isBelow(realpathSync(folder), "/nix")) add("/nix/store");
    const [installed] = INSTALLED.flatMap((root) => (isBelow(folder, root) ? [firstBelow(folder, root)] : []));
    add(installed ?? folder);
    if (installed === undefined) for (const sibling of siblings(folder, home)) add(sibling);
  }
  // A search for all patterns takes milliseconds, and most homes have few of these folders.
  const patterns = SECRETS.filter((pattern) => existsSync(join(home, pattern.split("/*")[0]!)));
  const secrets = globSync(patterns, { cwd: home }).map((file): Mount => ({ text: "", at: join(home, file) }));
  return [...mounts, ...secrets];
}

/** Existing folders besides those of the system. */
function foldersInPath(path: string): string[] {
  const folders = path.split(delimiter).filter((entry) => entry.startsWith("/"));
  return folders
    .map((entry) => normalize(entry).replace(/(.)\/$/, "$1"))
    .filter((folder) => !SYSTEM.some((each) => isBelow(folder, each)) && isFolder(folder));
}

const firstBelow = (path: string, root: string): string => path.split("/", root.split("/").length + 1).join("/");

/** Programs in PREFIX/bin are often links into PREFIX/lib. */
const siblings = (folder: string, home: string): string[] =>
  basename(folder) === "bin" && dirname(folder) !== home
    ? ["lib", "libexec", "share"].map((name) => join(dirname(folder), name)).filter(isFolder)
    : [];

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
