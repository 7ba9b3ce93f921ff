import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { seedModels } from "../../apps/cli/src/testing/seed-models.ts";
import { TANDEM } from "../../apps/cli/src/testing/run-tandem.ts";
import type { LabFolder, LabSettings } from "./lab-settings.ts";

const run = promisify(execFile);
/** The file of a database on the shared volume. */
export const SHOP = "shop.sqlite";

interface TemplateOptions {
  /** The private disk and the shared volume, as a machine sees them. */
  local: string;
  volume: string;
  settings: LabSettings;
}

/** The disks of new machines: a project, trusted, and a home. Returns the folders that are copied. */
export async function writeTemplates(
  stage: LabFolder,
  { local, volume, settings }: TemplateOptions,
): Promise<{ plain: string; context: string }> {
  const project = join(local, "project");
  for (const folder of ["project", "home", "tmp"]) await mkdir(join(local, folder));
  const { takeover, hasPgBouncer, context } = settings;
  const auth = `auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${stage.modelUrl}"`;
  const provider = `backend: anthropic, anthropic: { apiKey: "env:SESSION_KEY", baseUrl: "${stage.modelUrl}" }`;
  const direct = hasPgBouncer ? `, directUrl: "env:TEST_DIRECT"` : "";
  const lines = [
    "llm:",
    `  claudeCode: { ${auth} }`,
    ...(context ? [`  provider: { ${provider} }`] : []),
    `storage: { url: "env:TEST_DATABASE"${direct}, key: "env:STORE_KEY" }`,
    `server: { host: "0.0.0.0", trustedProxy: true, allowedHosts: [haproxy, server-1, server-2] }`,
    `sessions: { takeover: ${takeover}, idle: 5s, recovery: resume, roots: ["${project}", "${volume}"] }`,
    // In the sandbox, tools would not reach the observer.
    "sandbox: { mode: off }",
  ];
  await writeProject(lines);
  await seedModels({ project, variables: homeVariables(local, stage) });
  if (!context) return { plain: local, context: local };
  const plain = `${local}-plain`;
  await cp(local, plain, { recursive: true });
  const place = context === "volume" ? volume : project;
  if (context === "servers") createShop(join(local, "project", SHOP));
  const shop = `connections: { shop: { driver: sqlite, path: "${join(place, SHOP)}" } }`;
  await writeProject([...lines, `context: { folder: "${join(place, "context")}" }`, shop]);
  return { plain, context: local };

  async function writeProject(text: readonly string[]): Promise<void> {
    await writeFile(join(project, "tandem.yaml"), `${text.join("\n")}\n`);
    await run(process.execPath, [TANDEM, "trust"], { cwd: project, env: homeVariables(local, stage) });
  }
}

export function createShop(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, 'Ada');");
  database.close();
}

export const homeVariables = (local: string, stage: LabFolder): Record<string, string> => ({
  PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin", stage.mark].join(delimiter),
  HOME: join(local, "home"),
  TANDEM_HOME: join(local, "home", ".tandem"),
  CLAUDE_CONFIG_DIR: join(local, "home", ".claude"),
  TMPDIR: join(local, "tmp"),
  LANG: "C.UTF-8",
  SESSION_KEY: "sk-ant-made-up",
  // Secrets of webhooks: every process needs the same key.
  STORE_KEY: Buffer.alloc(32, "lab").toString("base64"),
});
