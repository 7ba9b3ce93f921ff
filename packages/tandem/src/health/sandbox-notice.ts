import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureTandemHome, type Variables } from "../config/tandem-home.ts";
import type { Setting } from "../config/parse/parse-config.ts";
import type { SandboxOverview } from "./sandbox-overview.ts";

/** Exists once the server has said that the sandbox is on. */
const MARK = "sandbox-announced";

/** A sentence for the first start with a sandbox that no setting asked for, as after an upgrade. Undefined afterwards. */
export async function sandboxNotice(
  env: Variables,
  settings: readonly Setting[],
  { on }: Pick<SandboxOverview, "on">,
): Promise<string | undefined> {
  if (!on || settings.some(({ path }) => path === "sandbox.mode")) return undefined;
  try {
    await writeFile(join(await ensureTandemHome(env), MARK), "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    // A home that cannot be written repeats the notice, which is harmless.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
  }
  return (
    "Sessions run in a sandbox by default: they see their folder, none of your secrets, and allowed hosts only. " +
    "`tandem sandbox` shows it; `tandem config set sandbox.mode off` turns it off."
  );
}
