// npm run demo-seed: records the sessions of the demo again, with the real Claude Code and the demo's scripted model.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordSeed } from "./demo-seed/record-seed.ts";

const file = join(import.meta.dirname, "..", "apps", "cli", "src", "demo", "seed", "harbour-bikes.seed");
const base = realpathSync(mkdtempSync(join(tmpdir(), "tandem-seed-")));
try {
  const packed = await recordSeed(base);
  writeFileSync(file, packed);
  console.log(`harbour-bikes.seed: ${Math.round(packed.length / 1_000)} kB`);
} finally {
  rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
