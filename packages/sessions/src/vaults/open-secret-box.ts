import { join } from "node:path";
import { parseKey, readKeyFile, SecretBox } from "@tandem/storage";

export interface SecretSettings {
  /** The key that encrypts stored secrets, in base64; by default a file in the state folder. */
  secretKey?: () => Promise<string>;
}

/** With the configured key, or the one in the state folder. */
export const openSecretBox = (stateFolder: string, { secretKey }: SecretSettings): SecretBox =>
  new SecretBox(
    secretKey
      ? async () => parseKey(await secretKey(), "The value of `storage.key`")
      : () => readKeyFile(join(stateFolder, "secrets.key")),
  );
