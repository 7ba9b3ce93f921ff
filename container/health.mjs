// Checks that the server of this container runs and reaches its database: exit code 0, or 1 and a line with the reason.
import { readFileSync } from "node:fs";
import { join } from "node:path";

try {
  const { url } = JSON.parse(readFileSync(join(process.env.TANDEM_HOME ?? "/data", "server.json"), "utf8"));
  const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(4_000) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
