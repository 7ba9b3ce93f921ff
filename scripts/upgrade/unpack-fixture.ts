import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** The folder in which version 0.1.0 made the fixture. */
const OLD_ROOT = "/srv/first-edition";
const FIXTURE = join(import.meta.dirname, "first-edition");
/** Audit entries are hashed with the paths in them, so they keep the old ones. */
const AUDIT = "audit";

/** Deadlines that are long enough for a busy machine. They need no trust. */
const PATIENT = "{ spawn: 5m, init: 5m, firstByte: 5m, idle: 5m }";

const secrets = z.object({ operator: z.string(), reader: z.string(), runner: z.string(), acme: z.string() });

export interface UnpackedFixture extends AsyncDisposable {
  root: string;
  home: string;
  tandemHome: string;
  project: string;
  /** Secrets of the tokens in the store, by name. */
  tokens: z.infer<typeof secrets>;
  /** The Postgres dump; empty for SQLite. */
  dump: string;
}

/** Unpacks the first edition's files into a new folder and replaces the old root in everything that names it. */
export function unpackFixture(engine: "sqlite" | "postgres"): UnpackedFixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tandem-upgrade-")));
  execFileSync("tar", ["-xzf", join(FIXTURE, `${engine}.tar.gz`), "-C", root, "--no-same-owner"]);
  const tandemHome = join(root, "home", ".tandem");
  for (const path of filesUnder(root)) moveTextFile(path, root);
  for (const path of globSync("{tandem.db,tandem.tenants/*.db}", { cwd: tandemHome })) {
    moveDatabase(join(tandemHome, path), root);
  }
  for (const path of globSync("{,tenants/*/}checkpoints/*/folder", { cwd: tandemHome })) {
    moveCheckpoints(join(tandemHome, path));
  }
  const config = join(root, "project", "tandem.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace(/^llm:\n/, `llm:\n  limits: ${PATIENT}\n`));
  return {
    root,
    home: join(root, "home"),
    tandemHome,
    project: join(root, "project"),
    tokens: secrets.parse(JSON.parse(readFileSync(join(root, "secrets.json"), "utf8"))),
    dump: engine === "postgres" ? movedDump(readFileSync(join(root, "dump.sql"), "utf8"), root) : "",
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

const filesUnder = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "dump.sql")
    .map((entry) => join(entry.parentPath, entry.name));

/** Binary files (git objects and indexes, SQLite) hold no paths of their own, or are handled elsewhere. */
function moveTextFile(path: string, root: string): void {
  const content = readFileSync(path);
  if (content.includes(0) || !content.includes(OLD_ROOT)) return;
  writeFileSync(path, content.toString("utf8").replaceAll(OLD_ROOT, root));
}

function moveDatabase(path: string, root: string): void {
  using database = new DatabaseSync(path);
  const tables = z
    .array(z.object({ name: z.string() }))
    .parse(database.prepare("select name from pragma_table_list where schema = 'main' and type = 'table'").all());
  for (const { name: table } of tables) {
    if (table === AUDIT || table.startsWith("sqlite_")) continue;
    const columns = z
      .array(z.object({ name: z.string() }))
      .parse(database.prepare("select name from pragma_table_info(?) where type = 'TEXT' or type = 'text'").all(table));
    for (const { name: column } of columns) {
      database
        .prepare(`update "${table}" set "${column}" = replace("${column}", ?, ?) where instr("${column}", ?) > 0`)
        .run(OLD_ROOT, root, OLD_ROOT);
    }
  }
}

/** Checkpoints of a folder are stored under a hash of its path. */
function moveCheckpoints(folderFile: string): void {
  const folder = readFileSync(folderFile, "utf8");
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 24);
  renameSync(dirname(folderFile), join(dirname(folderFile), "..", name));
}

/** Without the commands of `psql`, for any client. */
const movedDump = (dump: string, root: string): string =>
  dump
    .replaceAll(/^\\.*$/gm, "")
    .split(/^(?=INSERT INTO )/m)
    .map((part) => (/^INSERT INTO \w+\.audit VALUES/.test(part) ? part : part.replaceAll(OLD_ROOT, root)))
    .join("");
