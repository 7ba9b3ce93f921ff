import { mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ParsedConfig } from "./parse/parse-config.ts";
import { tandemHome, type Variables } from "./tandem-home.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

interface CachedConfig {
  /** The code that parsed it. */
  code: string;
  file: string;
  source: string;
  parsed: ParsedConfig;
}

/** In the package, the name of this file has a hash of its code and of all code that it imports. The sources have none. */
const CODE = basename(import.meta.url);
const IS_CACHED = /-[\w-]{8}\.mjs$/.test(CODE);
const MAX_NAME_LENGTH = 150;

/**
 * Parses the text of the `tandem.yaml` at `file`, or reads the result from the cache beside the compiled code: to load
 * the parsers of YAML and of the schema takes longer than the work of most commands. A config has no secrets, only references to them.
 */
export async function cachedConfig(
  env: Variables,
  { file, displayPath, source }: { file: string; displayPath: string; source: string },
): Promise<ParsedConfig> {
  const name = file.replaceAll(/[^\w.-]/g, "_").slice(-MAX_NAME_LENGTH);
  const place = join(tandemHome(env), "cache", `config${name}.json`);
  const cached = IS_CACHED ? await readCache(place) : undefined;
  if (cached?.code === CODE && cached.file === file && cached.source === source) return cached.parsed;
  const { parseConfig } = await import("./parse/parse-config.ts");
  const parsed = parseConfig(source, displayPath);
  if (IS_CACHED) await writeCache(place, { code: CODE, file, source, parsed });
  return parsed;
}

async function readCache(place: string): Promise<CachedConfig | undefined> {
  try {
    return JSON.parse(await readFile(place, "utf8")) as CachedConfig;
  } catch {
    return undefined;
  }
}

async function writeCache(place: string, cached: CachedConfig): Promise<void> {
  try {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await writeFileAtomically(place, JSON.stringify(cached), 0o600);
  } catch {
    // Works without it, only slower.
  }
}
