import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { buildPackage } from "../../scripts/build-package.ts";
import { SERVER_PACKAGE } from "../../scripts/published-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({
  bin: z.object({ tandem: z.string() }),
  dependencies: versions,
  peerDependencies: versions,
});

export interface InstalledPackage {
  /** The installed `tandem`: a program, which looks for Node 24. */
  command: string;
  /** The script that it starts. */
  script: string;
  /** Node 24. A copy: otherwise every other process of the same file takes its share of the memory's figures. */
  node: string;
  /** An older Node of this machine, as many users have in PATH. */
  oldNode: string | undefined;
}

/** Puts the package into `folder` as npm does. `built` is a built package; without it, the sources are built. */
export async function installPackage(folder: string, built?: string): Promise<InstalledPackage> {
  const modules = join(folder, "node_modules");
  const place = join(modules, SERVER_PACKAGE.name);
  if (built === undefined) await buildPackage(place);
  else cpSync(built, place, { recursive: true });
  const { bin, dependencies, peerDependencies } = manifest.parse(
    JSON.parse(readFileSync(join(place, "package.json"), "utf8")),
  );
  // Whole scopes: binaries for a platform are packages beside the one that needs them.
  const names = Object.keys({ ...dependencies, ...peerDependencies }).map((name) => name.split("/")[0]!);
  for (const name of new Set(names)) {
    const installed = join(root, "node_modules", name);
    if (existsSync(installed)) symlinkSync(installed, join(modules, name));
  }
  const node = join(modules, "node", "bin", "node");
  mkdirSync(dirname(node), { recursive: true });
  copyFileSync(process.execPath, node);
  const [command, script] = [join(place, bin.tandem), join(place, "bin", "tandem.mjs")];
  return { command, script, node, oldNode: findOldNode() };
}

/** A Node from 20 on that is older than the one that Tandem needs. */
function findOldNode(): string | undefined {
  const files = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  return files.find((file) => {
    if (!existsSync(file)) return false;
    const major = majorOf(execFileSync(file, ["--version"], { encoding: "utf8" }).slice(1));
    return major >= 20 && major < majorOf(process.versions.node);
  });
}

const majorOf = (version: string): number => Number(version.split(".")[0]);
