import { join, relative, sep } from "node:path";
import { PathPattern, realPath, type SessionPaths } from "./path-pattern.ts";

/** Other processes' variables, open files and views of the file system. */
const PROCESSES = ["environ", "mem", "fd/**", "root/**", "cwd/**", "map_files/**", "task/**"].map(
  (part) => `/proc/*/${part}`,
);

/** Keys and tokens of other programs, in the user's home. */
const CREDENTIALS = `.ssh/ .gnupg/ .aws/ .azure/ .kube/ .config/gh/ .config/gcloud/ .docker/config.json .netrc .pgpass
  .git-credentials .config/git/credentials .npmrc .yarnrc.yml .pypirc .vault-token .cargo/credentials
  .cargo/credentials.toml`.split(/\s+/);

interface Secrets {
  patterns: readonly PathPattern[];
  /** Matches secrets by name in text whose paths cannot be resolved. */
  mentions: RegExp;
}

const known = new WeakMap<SessionPaths, Secrets>();

function secretsOf(paths: SessionPaths): Secrets {
  const found = known.get(paths);
  if (found) return found;
  const { state, secrets = [] } = paths;
  const credentials = CREDENTIALS.map((file) => `~/${file}`);
  const files = [...secrets, ...credentials, ...PROCESSES, ...(state === undefined ? [] : [`${state}/`])];
  const names = [...MENTIONED, ...(state === undefined ? [] : [state, inHome(state, paths.home)])];
  const made = {
    patterns: files.map((file) => new PathPattern(file, paths, true)),
    mentions: new RegExp(`(?<![\\w-])(?:${names.map(escaped).join("|")})(?![\\w-])|/environ\\b`, "i"),
  };
  known.set(paths, made);
  return made;
}

const MENTIONED =
  `.credentials.json .claude.json TANDEM_HOME CLAUDE_CONFIG_DIR .ssh .gnupg .aws .azure .kube .netrc .pgpass
  .git-credentials`.split(/\s+/);

const inHome = (state: string, home: string): string => {
  const inside = relative(home, state);
  return inside.startsWith("..") || !/[/.]/.test(inside) ? state : inside;
};

/**
 * Whether a path leads to secrets that would let an agent impersonate a person: Tandem's own folder, credentials of Claude Code
 * and of other programs, data of other processes. `below` includes everything below the path.
 */
export function isSecret(lexical: string, paths: SessionPaths, below = false): boolean {
  const { patterns } = secretsOf(paths);
  const real = realPath(lexical);
  if (real !== undefined && isOpen(real, paths)) return false;
  const ways = real === undefined || real === lexical ? [lexical] : [lexical, real];
  return ways.some((way) => patterns.some((each) => each.covers(way) || (below && each.reachesInto(way))));
}

/** The same for possible expansions of a shell glob. */
export function mayBeSecret(glob: string, paths: SessionPaths, below = false): boolean {
  const parts = glob.split(sep);
  const wild = parts.findIndex((part) => /[*?[]/.test(part));
  const above = parts.slice(0, wild).join(sep) || sep;
  const real = realPath(above) ?? above;
  if (isOpen(real, paths)) return false;
  const ways = new Set([glob, join(real, ...parts.slice(wild))]);
  return [...ways].some((way) => secretsOf(paths).patterns.some((each) => each.meets(way, below)));
}

/** Whether text that cannot be parsed with certainty names a secret. */
export const mentionsSecret = (text: string, paths: SessionPaths): boolean => secretsOf(paths).mentions.test(text);

/** Exceptions: the session's folder may be inside Tandem's, and Claude Code stores long results there for itself. */
function isOpen(real: string, { state, folder, secrets = [] }: SessionPaths): boolean {
  if (state === undefined) return false;
  if (isInside(state, folder) && isInside(folder, real)) return true;
  return isInside(join(state, "claude-code"), real) && !secrets.includes(real);
}

export const isInside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

const escaped = (text: string): string => text.replace(/[^\w]/g, "\\$&");
