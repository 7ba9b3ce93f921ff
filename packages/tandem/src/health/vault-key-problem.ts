import { join } from "node:path";
import type { Store } from "@tandem/storage";
import type { Project } from "../config/load-project.ts";
import { resolveSecret } from "../config/resolve-secret.ts";
import { tandemHome } from "../config/tandem-home.ts";
import type { Host } from "../config/host.ts";

/** Why credentials of vaults cannot be used with this machine's key; undefined if they can, or if there are none. */
export async function readVaultKeyProblem(
  { env, signal }: Pick<Host, "env" | "signal">,
  { config, folder }: Project,
  { records }: Pick<Store, "records">,
): Promise<{ detail: string; fix: string } | undefined> {
  const [{ findVaultKeyProblem }, { parseKey, readKeyFile }] = await Promise.all([
    import("@tandem/sessions/vault-key"),
    import("@tandem/storage"),
  ]);
  const { key } = config.storage;
  const problem = await findVaultKeyProblem(records, async () =>
    key === undefined
      ? readKeyFile(join(tandemHome(env), "secrets.key"), { makes: false })
      : parseKey(await resolveSecret(key, { env, folder, signal }), "The value of `storage.key`"),
  );
  return problem && { detail: problem.message, fix: problem.fix };
}
