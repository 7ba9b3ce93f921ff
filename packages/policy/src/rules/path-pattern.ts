import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";

/** The folders and files that path rules of a session refer to. */
export interface SessionPaths {
  /** The session's folder, with symlinks resolved. */
  folder: string;
  home: string;
  /** True if the file system ignores case. */
  foldsCase: boolean;
  /** TANDEM_HOME, which agents must not touch. */
  state?: string;
  /** Files that hold the user's credentials. */
  secrets?: readonly string[];
  /** Files that the host's hooks run, as far as their commands name them. */
  hookFiles?: readonly string[];
}

export const usualFolding: boolean = process.platform === "darwin" || process.platform === "win32";

/** Returns an error text if the pattern is invalid. */
export function checkPathPattern(pattern: string): string | undefined {
  if (/[\0\n\r]/.test(pattern)) return "it has characters that are in no path";
  if (pattern.split("/").includes("..")) return "it must not have `..`; name the folder itself";
  if (pattern.startsWith("~") && !/^~(?:\/|$)/.test(pattern)) return "only `~/` stands for a home";
  if (/\*{3,}/.test(pattern) || pattern.split("/").some((part) => part.includes("**") && part !== "**")) {
    return "`**` has to stand alone between slashes";
  }
  return undefined;
}

/**
 * A path pattern, resolved for one session. `anywhere`: a bare name matches in every folder, else only inside the session's.
 */
export class PathPattern {
  /** The pattern as written, and with its symlinks resolved. */
  readonly #ways: readonly (readonly string[])[];
  readonly #foldsCase: boolean;
  /** True if the last part is a wildcard. */
  readonly isLoose: boolean;
  /** The last part, if it is a plain name. Used to search unparsed text. */
  readonly name: string | undefined;

  constructor(pattern: string, { folder, home, foldsCase }: SessionPaths, anywhere: boolean) {
    const whole = pattern.startsWith("~")
      ? join(home, pattern.slice(1))
      : isAbsolute(pattern)
        ? pattern
        : anywhere && (!pattern.replace(/\/$/, "").includes("/") || pattern.startsWith("**/"))
          ? `/**/${pattern}`
          : join(folder, pattern.includes("/") ? pattern : `**/${pattern}`);
    this.#foldsCase = foldsCase;
    const segments = whole.split(/[/\\]+/).filter((part) => part !== "" && part !== ".");
    // A trailing slash includes everything in the folder.
    if (pattern.endsWith("/")) segments.push("**");
    this.#ways = [segments, throughLinks(segments)].map((way) => way.map((part) => this.#fold(part)));
    const last = segments.findLast((part) => part !== "**") ?? "*";
    this.isLoose = /^\*+$/.test(segments.at(-1) ?? "*");
    this.name = /[*?]/.test(last) ? undefined : last;
  }

  covers(path: string): boolean {
    return this.#someWay(this.#split(path), false, isSegment);
  }

  /** Whether the pattern could match this path or something below it. */
  reachesInto(path: string): boolean {
    return this.#someWay(this.#split(path), true, isSegment);
  }

  /** Whether the pattern could match an expansion of this shell glob or, with `below`, something inside it. */
  meets(glob: string, below = true): boolean {
    const parts = this.#split(glob);
    const end = parts.findIndex((part) => part.includes("**"));
    const isFile = end === -1 && /\.\w+$/.test(glob);
    return this.#someWay(end === -1 ? parts : parts.slice(0, end), end !== -1 || (below && !isFile), overlaps);
  }

  #someWay(parts: readonly string[], open: boolean, same: typeof isSegment): boolean {
    return this.#ways.some((way) => isFitting(way, parts, open, same));
  }

  #split(path: string): string[] {
    return path
      .split(/[/\\]+/)
      .filter((part) => part !== "")
      .map((part) => this.#fold(part));
  }

  #fold(text: string): string {
    return this.#foldsCase ? text.normalize("NFC").toLowerCase() : text;
  }
}

/** `open`: a match below the path counts too. */
function isFitting(way: readonly string[], parts: readonly string[], open: boolean, same: typeof isSegment): boolean {
  const [segment, ...rest] = way;
  if (segment === undefined) return parts.length === 0;
  if (segment === "**") {
    // A trailing `**` matches everything.
    if (rest.length === 0) return true;
    return parts.some((_, from) => isFitting(rest, parts.slice(from), open, same)) || open;
  }
  const [part, ...below] = parts;
  if (part === undefined) return open;
  return same(segment, part) && isFitting(rest, below, open, same);
}

function throughLinks(segments: readonly string[]): string[] {
  const wild = segments.findIndex((part) => /[*?]/.test(part));
  const end = wild === -1 ? segments.length : wild;
  const real = realPath(`/${segments.slice(0, end).join("/")}`);
  return [...(real?.split(/[/\\]+/).filter((part) => part !== "") ?? segments.slice(0, end)), ...segments.slice(end)];
}

const isSegment = (pattern: string, part: string): boolean =>
  pattern === part ||
  (/[*?]/.test(pattern) &&
    new RegExp(
      `^${pattern
        .replace(/[^\w*?]/g, "\\$&")
        .replaceAll("*", "[^]*")
        .replaceAll("?", "[^]")}$`,
    ).test(part));

/** Whether two name patterns can match the same name. Returns true if uncertain. */
function overlaps(pattern: string, glob: string): boolean {
  if (!/[*?[\]]/.test(glob)) return isSegment(pattern, glob);
  if (/[[\]]/.test(glob)) return true;
  const ends = (text: string): [string, string] => [/^[^*?]*/.exec(text)![0], /[^*?]*$/.exec(text)![0]];
  const [begin, end] = ends(glob);
  if (!/[*?]/.test(pattern)) return isSegment(glob, pattern);
  const [first, last] = ends(pattern);
  return (begin.startsWith(first) || first.startsWith(begin)) && (end.endsWith(last) || last.endsWith(end));
}

/** Resolves a path that a person or a model wrote. */
export const absolute = (path: string, from: string, home: string): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(from, path);

const MAX_LINKS = 40;

/** These paths depend on the process that reads them: `/proc/self/cwd` is our folder here and the command's folder later. */
const OTHERS_VIEW = /^\/(?:proc|dev\/fd)(?:\/|$)/;

/** Resolves symlinks, also for a file that does not exist yet. Undefined if the path cannot be resolved. */
export function realPath(path: string, links = 0): string | undefined {
  if (links > MAX_LINKS || OTHERS_VIEW.test(path)) return undefined;
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR") return undefined;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const folder = realPath(parent, links + 1);
  if (folder === undefined) return undefined;
  const whole = folder.endsWith(sep) ? folder + basename(path) : folder + sep + basename(path);
  try {
    // Writing to a dangling symlink creates its target.
    if (lstatSync(whole).isSymbolicLink()) return realPath(resolve(folder, readlinkSync(whole)), links + 1);
  } catch {
    // The file does not exist.
  }
  return whole;
}
