import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { TandemError } from "@tandem/protocol";
import type { TokenStore } from "@tandem/storage";
import { sha256 } from "./sha256.ts";
import { createToken } from "./create-token.ts";

const MODE = 0o600;
/** The name of the token that clients on this machine use. */
export const LOCAL_TOKEN = "local";

/**
 * Ensures that a file holds a valid token, by which clients on this machine reach the server. The first start creates
 * it with the scope `admin`, readable by its owner only. A revoked token, or one of another database, is replaced.
 * With `keep`, this database accepts it too. Reports a file that others could read.
 */
export async function ensureToken(
  file: string,
  tokens: TokenStore,
  { keep = false }: { keep?: boolean } = {},
): Promise<{ created: boolean; warning?: string }> {
  const found = await readPrivately(file);
  if (found && (await tokens.findByHash(sha256(found.secret)))) return { created: false, warning: found.warning };
  if (found && keep) {
    await createToken(tokens, { name: LOCAL_TOKEN, scopes: ["admin"], secret: found.secret });
    return { created: true, warning: found.warning };
  }
  const { secret, token } = await createToken(tokens, { name: LOCAL_TOKEN, scopes: ["admin"] });
  await writePrivately(file, secret, { replace: found !== undefined });
  if ((await readPrivately(file))?.secret === secret) return { created: true, warning: found?.warning };
  // Another server on this machine won the race and wrote its token.
  await tokens.delete(token.id);
  return ensureToken(file, tokens, { keep });
}

async function readPrivately(file: string): Promise<{ secret: string; warning?: string } | undefined> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw refused(file, "it is a link", cause);
    throw refused(file, `the system says ${code}`, cause);
  }
  await using opened = handle;
  const { mode, uid } = await opened.stat();
  if (process.getuid && uid !== process.getuid()) throw refused(file, "it belongs to another user");
  const secret = (await opened.readFile("utf8")).trim();
  // Windows has no mode bits.
  if (process.platform === "win32" || (mode & 0o077) === 0) return { secret };
  await opened.chmod(MODE);
  const warning = `${file} was readable by other users; its mode is fixed now. If another user may have read it, delete it and start again.`;
  return { secret, warning };
}

const refused = (file: string, why: string, cause?: unknown): TandemError =>
  new TandemError("token_file", `The token in ${file} cannot be trusted: ${why}.`, {
    fix: "Remove it and start again; a new one is made.",
    cause,
  });

/** Writes atomically. Keeps an existing file unless it should be replaced. */
async function writePrivately(file: string, secret: string, { replace }: { replace: boolean }): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(temporary, "wx", MODE);
    try {
      await handle.writeFile(`${secret}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (replace) await rename(temporary, file);
    else await link(temporary, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return;
    throw new TandemError("token_file", `Cannot write ${file}.`, {
      fix: `Check that ${dirname(file)} is writable.`,
      cause,
    });
  } finally {
    await rm(temporary, { force: true });
  }
}
