import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startDemo } from "../../apps/cli/src/demo/start-demo.ts";
import { relocateText, relocateTime, type Relocation } from "../../apps/cli/src/demo/seed/relocation.ts";
import { packArchive, readFiles, type SeedArchive } from "../../apps/cli/src/demo/seed/seed-archive.ts";
import { PROJECT, STATE } from "../../apps/cli/src/demo/seed/unpack-seed.ts";
import { rewriteSqlite } from "@tandem/storage";
import { openTandem } from "@tandem/tandem";
import { play, type Pause } from "./play.ts";
import { SHOP_CODE } from "./shop-code.ts";

const TANDEM = join(import.meta.dirname, "..", "..", "apps", "cli", "src", "main.ts");
/** Replaces the folder of the recording. */
const BASE = "/tandem-demo";

/** Plays the story at Harbour Bikes on a real server with the real Claude Code, and returns the packed result. */
export async function recordSeed(base: string): Promise<Buffer> {
  const project = join(base, PROJECT);
  const state = join(base, STATE);
  const env = {
    // The shop's tests are TypeScript, which an older Node on the PATH would not find.
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    HOME: join(base, "home"),
    TMPDIR: base,
    NO_PROXY: "127.0.0.1",
    LANG: "C.UTF-8",
    TANDEM_HOME: state,
    CLAUDE_CONFIG_DIR: join(base, "claude"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Mira",
    GIT_AUTHOR_EMAIL: "mira@harbour.example",
    GIT_COMMITTER_NAME: "Mira",
    GIT_COMMITTER_EMAIL: "mira@harbour.example",
  };
  mkdirSync(env.HOME, { recursive: true });
  const since = Date.now();
  execFileSync(process.execPath, [TANDEM, "demo", "context", project, "--json"], {
    cwd: base,
    env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  // No session may work in a folder with the server's own state.
  renameSync(`${project}.tandem`, state);
  for (const [name, text] of Object.entries(SHOP_CODE)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, env, stdio: "ignore" });
  git("init", "--initial-branch", "main", "--template", "");
  git("add", "--all");
  git("commit", "--message", "Add the shop");
  execFileSync(process.execPath, [TANDEM, "trust"], { cwd: project, env, stdio: "ignore" });

  const pauses: Pause[] = [];
  await using demo = await startDemo();
  {
    await using tandem = await openTandem({ project, env, port: 0, demo: { credential: demo.credential } });
    const token = readFileSync(tandem.info.token_file, "utf8").trim();
    await play({ url: tandem.url, token, project, pause: (minutes) => pauses.push({ at: Date.now(), minutes }) });
  }
  const until = Date.now();
  const relocation: Relocation = {
    from: base,
    to: BASE,
    since,
    move: (ms) => pauses.reduce((time, { at, minutes }) => (at <= ms ? time + minutes * 60_000 : time), ms),
  };
  const database = join(state, "tandem.db");
  clean(database);
  rewriteSqlite(database, {
    text: (text) => relocateText(relocation, text).replaceAll(`local:${userInfo().username}`, "local:mira"),
    time: (ms) => relocateTime(relocation, ms),
  });
  compact(database);
  const files = readFiles(base, isPartOfSeed);
  for (const content of Object.values(files)) if ("text" in content) content.text = content.text.replaceAll(base, BASE);
  return packArchive({ base: BASE, since, until: relocation.move(until), files } satisfies SeedArchive);
}

const KEPT = [
  `${PROJECT}/`,
  `${STATE}/tandem.db`,
  `${STATE}/checkpoints/`,
  `${STATE}/worktrees/`,
  `${STATE}/ports/`,
  `${STATE}/claude-code/tasks/`,
  `${STATE}/trusted.json`,
];

const isPartOfSeed = (path: string): boolean =>
  KEPT.some((kept) => path.startsWith(kept)) && !/\/indexes\/|\/logs\/|\.lock$|-(wal|shm)$/.test(path);

/** Removes the recording's token and rows that name its process. */
function clean(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("delete from token where name = 'local'; delete from record where key like 'tandem up on %'");
  database.close();
}

function compact(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("pragma wal_checkpoint(truncate); pragma journal_mode = delete; vacuum");
  database.close();
}
