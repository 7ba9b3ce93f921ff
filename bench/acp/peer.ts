import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export const PEER = "@agentclientprotocol/claude-agent-acp";
const VERSION = "0.99.1";

/**
 * The peer's program. No package depends on it: `TANDEM_BENCH_ACP_PEER` names a folder that has it in `node_modules`;
 * otherwise it is installed into a cache, once.
 */
export async function findPeer(): Promise<string> {
  const given = process.env["TANDEM_BENCH_ACP_PEER"];
  const folder =
    given ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tandem-bench", `acp-${VERSION}`);
  const program = join(folder, "node_modules", PEER, "dist", "index.js");
  if (existsSync(program)) return program;
  if (given !== undefined) throw new Error(`There is no ${PEER} in ${given}.`);
  console.error(`Installing ${PEER} ${VERSION} (once) …`);
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "package.json"),
    `${JSON.stringify({ private: true, dependencies: { [PEER]: VERSION } })}\n`,
  );
  const args = ["install", "--omit=optional", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env["npm_execpath"];
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: folder, stdio: ["ignore", 2, 2] })
    : spawnSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("The peer could not be installed; npm's message is above.");
  return program;
}
