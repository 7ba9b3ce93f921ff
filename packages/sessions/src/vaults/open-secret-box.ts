import { join } from "node:path";
import { parseKey, readKeyFile, SecretBox } from "@tandem/storage";
import type { EngineSettings } from "../engine-settings.ts";

/** With the configured key, or the one in the state folder. */
export const openSecretBox = (stateFolder: string, { secretKey }: Pick<EngineSettings, "secretKey">): SecretBox =>
  new SecretBox(
    secretKey
      ? async () => parseKey(await secretKey(), "The value of `storage.key`")
      : () => readKeyFile(join(stateFolder, "secrets.key")),
  );
