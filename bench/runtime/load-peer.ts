import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = join(import.meta.dirname, "..");

/** The few things used of the peer and of `ai`. Their own types are only there once they are installed. */
interface Peer {
  createClaudeCode: (options: { defaultSettings: object }) => (model: string) => unknown;
  generateText: (options: object) => Promise<{ text: string; output: unknown }>;
  Output: { object: (options: { schema: unknown }) => unknown };
}

/** Installs the peers beside the bench, without their copy of the binary: every contender runs on ours. */
export function installPeers(): void {
  if (existsSync(join(folder, "node_modules", "ai-sdk-provider-claude-code"))) return;
  console.error("Installing the peers (once) …");
  const args = ["install", "--omit=optional", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env["npm_execpath"];
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: folder, stdio: ["ignore", 2, 2] })
    : spawnSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("The peers could not be installed; npm's message is above.");
}

export async function loadPeer(): Promise<Peer> {
  const require = createRequire(join(folder, "package.json"));
  const load = async (name: string): Promise<object> =>
    (await import(pathToFileURL(require.resolve(name)).href)) as object;
  return { ...(await load("ai")), ...(await load("ai-sdk-provider-claude-code")) } as Peer;
}
