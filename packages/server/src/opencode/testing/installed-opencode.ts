import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../../../..");

/**
 * opencode's SDK, if it is installed. Tandem does not depend on it: install it in any folder with
 * `npm install @opencode-ai/sdk@1.18.18`, and name the folder in TANDEM_TEST_OPENCODE.
 */
const modules = join(process.env["TANDEM_TEST_OPENCODE"] ?? ROOT, "node_modules");

const folder = join(modules, "@opencode-ai/sdk");

/** The folder of the SDK. */
export const installedSdk = existsSync(folder) ? folder : undefined;

/** The reason why a test is skipped. */
export const NOT_INSTALLED = "needs an installed SDK: see installed-opencode.ts";
