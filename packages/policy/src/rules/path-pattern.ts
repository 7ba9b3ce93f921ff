import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";

/** Where a session works, and how its file system names things. */
export interface Place {
  /** Its real path. */
  folder: string;
  home: string;
  /** Whether `A` and `a` are the same file. */
  foldsCase: boolean;
  /** Tandem's own folder, which agents have no business in. */
  state?: string;
  /** Files that hold credentials of the user's. */
  secrets?: readonly string[];
  /** What the host's own hooks run, as far as it is named by their commands. */
  hookFiles?: readonly string[];
}

export const usualFolding: boolean = process.platform === "darwin" || process.platform === "win32";

/** Returns a sentence where it is not a pattern. */
export function checkPathPattern(pattern: string): string | undefined {
  if (/[\0\n\r]/.test(pattern)) return "it has characters that are in no path";
  if (pattern.split("/").includes("..")) return "it must not have `..`; name the folder itself";
  if (pattern.startsWith("~") && !/^~(?:\/|$)/.test(pattern)) return "only `~/` stands for a home";
  if (/\*{3,}/.test(pattern) || pattern.split("/").some((part) => part.includes("**") && part !== "**")) {
    return "`**` has to stand alone between slashes";
  }
  return undefined;
}

/** A pattern in one place. `anywhere`: a name without a folder is meant wherever it is, else only inside of the session's. */
export class PathPattern {
  /** As it was written, and with the links in it resolved. */
  readonly #ways: readonly (readonly string[])[];
  readonly #foldsCase: boolean;
  /** Its last part names nothing in particular. */
  readonly isLoose: boolean;
  /** The last part of it, if that is a plain name: what would be found in text. */
  readonly name: string | undefined;

  constructor(pattern: string, { folder, home, foldsCase }: Place, anywhere: boolean) {
    const whole = pattern.startsWith("~")
      ? join(home, pattern.slice(1))
      : isAbsolute(pattern)
        ? pattern
        : anywhere && (!pattern.replace(/\/$/, "").includes("/") || pattern.startsWith("**/"))
          ? `/**/${pattern}`
          : join(folder, pattern.includes("/") ? pattern : `**/${pattern}`);
    this.#foldsCase = foldsCase;
    const segments = whole.split(/[/\\]+/).filter((part) => part !== "" && part !== ".");
    // What is named as a folder is meant with all that is in it.
    if (pattern.endsWith("/")) segments.push("**");
    this.#ways = [segments, throughLinks(segments)].map((way) => way.map((part) => this.#fold(part)));
    const last = segments.findLast((part) => part !== "**") ?? "*";
    this.isLoose = /^\*+$/.test(segments.at(-1) ?? "*");
    this.name = /[*?]/.test(last) ? undefined : last;
  }

  covers(path: string): boolean {
    return this.#someWay(this.#split(path), false, isSegment);
  }

  /** Whether something at or below this path could be covered. */
  reachesInto(path: string): boolean {
    return this.#someWay(this.#split(path), true, isSegment);
  }

  /** Whether one of the names that a shell's pattern becomes could be covered, or (`below`) what is in one that may be a folder. */
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

/** `open`: whether what is below the path may do, too. */
function isFitting(way: readonly string[], parts: readonly string[], open: boolean, same: typeof isSegment): boolean {
  const [segment, ...rest] = way;
  if (segment === undefined) return parts.length === 0;
  if (segment === "**") {
    // The last `**` takes everything.
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

/** Whether two patterns of one name have a name in common; where that is hard to say, they do. */
function overlaps(pattern: string, glob: string): boolean {
  if (!/[*?[\]]/.test(glob)) return isSegment(pattern, glob);
  if (/[[\]]/.test(glob)) return true;
  const ends = (text: string): [string, string] => [/^[^*?]*/.exec(text)![0], /[^*?]*$/.exec(text)![0]];
  const [begin, end] = ends(glob);
  if (!/[*?]/.test(pattern)) return isSegment(glob, pattern);
  const [first, last] = ends(pattern);
  return (begin.startsWith(first) || first.startsWith(begin)) && (end.endsWith(last) || last.endsWith(end));
}

/** An absolute path for what a person or a model has written. */
export const absolute = (path: string, from: string, home: string): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(from, path);

const MAX_LINKS = 40;

/** What is there depends on who looks: `/proc/self/cwd` is our folder here, and the command's when it runs. */
const OTHERS_VIEW = /^\/(?:proc|dev\/fd)(?:\/|$)/;

/** Where a path leads, links resolved, also if the file is not there yet. Undefined where that cannot be found out. */
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
    // A link to what is not there: whoever writes to it makes that.
    if (lstatSync(whole).isSymbolicLink()) return realPath(resolve(folder, readlinkSync(whole)), links + 1);
  } catch {
    // Nothing is there.
  }
  return whole;
}
