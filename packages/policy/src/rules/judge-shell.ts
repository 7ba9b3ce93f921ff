import { statSync } from "node:fs";
import { matchesRestriction, matchesAllow, mentionsProgram, type Fit } from "./command-pattern.ts";
import { namesTool, type CompiledRule } from "./compile-rule.ts";
import { hostsIn, isDomain } from "./domain-pattern.ts";
import { candidates, guardWords, SECRET } from "./guard-words.ts";
import { guardOf } from "./guard.ts";
import { considerFile } from "./judge-file.ts";
import {
  combine,
  deniesByPattern,
  resolvePart,
  type Caution,
  type Considered,
  type JudgedPart,
  type Judgement,
} from "./judge-parts.ts";
import { absolute, realPath, type PathPattern, type SessionPaths } from "./path-pattern.ts";
import { isInside, isSecret, mayBeSecret, mentionsSecret } from "./secrets.ts";
import { expandLine, type ShellUnit } from "../shell/expand-line.ts";
import { connects, NAMES_ONLY, showsContents } from "../shell/programs.ts";
import { searchOf } from "../shell/searches.ts";
import type { Redirect } from "../shell/shell-line.ts";
import type { ShellWord } from "../shell/shell-word.ts";
import { FILE_TOOLS } from "./tool-kinds.ts";

/** The working folders that a command may have, as far as the line shows. */
interface Folders {
  known: string[];
  /** The command changed to a folder that is unknown before it runs. */
  lost: boolean;
}

/** Applies rules to a shell line: to each command, each file that it writes, and each doubt. */
export function judgeShell(tool: string, line: string, rules: readonly CompiledRule[], paths: SessionPaths): Judgement {
  const { units, doubts } = expandLine(line);
  const folders: Folders = { known: [paths.folder], lost: false };
  const shell = rules.filter(({ rule }) => namesTool(rule.tool, tool) || rule.tool === "Bash");
  const parts = units.flatMap((unit) => {
    const found = judgeUnit(unit, line, shell, rules, paths, folders);
    move(unit, folders, paths);
    return found;
  });
  // Allow rules apply in the session's folder only: elsewhere, the same words may run other programs.
  if (folders.lost || folders.known.some((folder) => !isInside(paths.folder, realPath(folder) ?? ""))) {
    doubts.push("it leaves the session's folder");
  }
  for (const doubt of new Set(doubts)) parts.push(judgeDoubt(doubt, line, shell, rules, paths));
  if (parts.length === 0) parts.push(resolvePart("Nothing", [], undefined, true));
  return combine(parts);
}

function judgeUnit(
  unit: ShellUnit,
  line: string,
  shell: readonly CompiledRule[],
  rules: readonly CompiledRule[],
  paths: SessionPaths,
  folders: Folders,
): JudgedPart[] {
  const { command } = unit;
  const parts = command.redirects.flatMap((redirect) => judgeRedirect(redirect, rules, paths, folders));
  if (command.words.length === 0) return parts;
  const what = `\`${command.source}\`${command.inside === undefined ? "" : ` (in ${command.inside})`}`;
  const considered = [
    ...shell.flatMap((compiled) => considerCommand(compiled, unit, line)),
    ...rules.flatMap((compiled) => considerWords(compiled, unit, line, paths, folders)),
  ];
  const part = resolvePart(what, considered, cautionOf(unit, line, rules, paths, folders), unit.transparent);
  return [part, ...parts];
}

function considerCommand(compiled: CompiledRule, unit: ShellUnit, line: string): Considered[] {
  const { rule, pattern, restricts } = compiled;
  if (pattern.type === "any") return [{ rule, fit: "yes", why: `it matches every ${rule.tool} call` }];
  if (pattern.type !== "command") return [];
  if (!restricts) {
    const fit = matchesAllow(pattern.command, unit) ? "yes" : "no";
    return [{ rule, fit, why: fit === "yes" ? "the command is the same" : whyNot(unit) }];
  }
  const fit = matchesRestriction(pattern.command, unit);
  if (fit === "yes") return [{ rule, fit, why: "the command starts with these words" }];
  if (fit === "no" && unit.hatches.length === 0) return [{ rule, fit, why: "the command differs" }];
  const named = mentionsProgram(pattern.command, line);
  return [fit === "no" ? unseen(rule, named) : mentioned(rule, named, UNSEEN)];
}

/** Matches deny and ask rules against paths and domains that the words of a command name. */
function considerWords(
  { rule, pattern, restricts }: CompiledRule,
  unit: ShellUnit,
  line: string,
  paths: SessionPaths,
  folders: Folders,
): Considered[] {
  if (!restricts) return [];
  if (pattern.type === "domain") {
    const host = unit.command.words
      .flatMap(({ text, source }) => hostsIn(text ?? source))
      .find((each) => isDomain(pattern.domain, each, true));
    if (host !== undefined) return [{ rule, fit: "yes", why: `it names ${host}` }];
    return goesUnknown(unit) ? [{ rule, fit: "maybe", why: "the host it connects to is unknown" }] : [];
  }
  if (pattern.type === "any") return considerWriting(rule, unit);
  if (pattern.type !== "path") return [];
  if (pattern.access === "write" && unit.reach === "reads" && unit.hatches.length === 0) return [];
  const words = unit.command.words.slice(/[/\\]/.test(unit.command.words[0]!.text ?? "/") ? 0 : 1);
  const fits = new Set(words.map((word) => wordFit(word, pattern.path, unit, paths, folders)));
  if (pattern.access === "read") fits.add(searchFit(pattern.path, unit, paths, folders));
  if (fits.has("yes")) return [{ rule, fit: "yes", why: "an argument names that path" }];
  if (unit.hatches.length > 0 && unit.program !== "find") {
    const named = pattern.path.name !== undefined && line.includes(pattern.path.name);
    return [fits.has("maybe") ? mentioned(rule, named, UNSEEN) : unseen(rule, named)];
  }
  const fit: Fit = fits.has("maybe") ? "maybe" : "no";
  return [{ rule, fit, why: fit === "maybe" ? "an argument may lead to that path" : "no argument names that path" }];
}

/** Whether a network program gets its target from a variable, another command or a file. */
const goesUnknown = ({ program, command }: ShellUnit): boolean =>
  connects(program, command.words) &&
  command.words.some(({ text, glob }, index) => {
    if (index === 0) return false;
    if (text === undefined || (glob && !/^https?:\/\/[\w.-]+(?:[/:?]|$)/.test(text))) return true;
    // curl expands `{a,b}` and `[a-c]` itself.
    if (program === "curl" && /^(?:[a-z]+:\/\/)?[\w.@:-]*[{[][^"\s]*$/i.test(text)) return true;
    if (program === "wget") return /^-[a-zA-Z]*i|^--in/.test(text);
    return program === "curl" && /^-[a-zA-Z]*[Kx]|^--(?:conf|connect-to|prox|prep|sock|res)/.test(text);
  });

/** A rule that denies every edit also covers programs that write; programs that may write are uncertain. */
function considerWriting(rule: CompiledRule["rule"], { reach, hatches, transparent }: ShellUnit): Considered[] {
  if (rule.tool === "*" || !namesTool(rule.tool, "Write") || transparent) return [];
  if (reach === "writes") return [{ rule, fit: "yes", why: "it writes" }];
  const fit = reach === "unknown" || hatches.length > 0 ? "maybe" : "no";
  return [{ rule, fit, why: fit === "maybe" ? "it may write" : "it only reads" }];
}

/** Matches files that are read without being named: below a search's start folder, or from a repository. */
function searchFit(path: PathPattern, unit: ShellUnit, paths: SessionPaths, folders: Folders): Fit {
  if (showsContents(unit.program, unit.command.words)) return "maybe";
  if (unit.program === "find" || searchOf(unit.program, unit.command.words) !== "here") return "no";
  const from = [...folders.known, ...ownFolders(unit, paths, folders)];
  return folders.lost || from.some((folder) => path.reachesInto(realPath(folder) ?? folder)) ? "maybe" : "no";
}

function wordFit(word: ShellWord, path: PathPattern, unit: ShellUnit, paths: SessionPaths, folders: Folders): Fit {
  const looksOnly = NAMES_ONLY.has(unit.program ?? "") && unit.reach === "reads";
  if (word.text === undefined) return looksOnly && unit.program !== "cd" ? "no" : "maybe";
  const from = [...folders.known, ...ownFolders(unit, paths, folders)];
  let fit: Fit = "no";
  for (const candidate of candidates(word.text)) {
    for (const folder of from) {
      const lexical = absolute(candidate, folder, paths.home);
      if (word.glob) {
        if (path.meets(lexical)) fit = "maybe";
        continue;
      }
      const real = realPath(lexical);
      const isThere = kindOf(lexical);
      // A plain word that names no existing file is no path, unless a rule names it or the program creates files.
      const makes = unit.reach === "writes" && unit.program !== "git";
      if (path.isLoose && isThere === undefined && !makes && !/[/.~]/.test(candidate)) continue;
      if (path.covers(lexical) || (real !== undefined && path.covers(real))) return "yes";
      if (real === undefined) fit = "maybe";
      else if (isThere === "folder" && !looksOnly && path.reachesInto(real)) fit = "maybe";
    }
    // In an unknown folder, only the file name can be compared.
    const name = candidate.split("/").findLast((part) => part !== "");
    if (folders.lost && (path.name === undefined || path.name === name)) fit = "maybe";
  }
  return fit;
}

/** Folders that an option sets: `git -C x`, `tar -C x`, `npm --prefix x`. */
function ownFolders({ command }: ShellUnit, paths: SessionPaths, folders: Folders): string[] {
  return command.words.flatMap(({ text }, index) => {
    const next = command.words[index + 1]?.text;
    const glued = /^(?:-C|--(?:directory|prefix|cwd|chdir|git-dir|work-tree)=)(.+)$/.exec(text ?? "")?.[1];
    const given =
      glued ?? (/^(?:-C|--(?:directory|prefix|cwd|chdir|git-dir|work-tree))$/.test(text ?? "") ? next : undefined);
    return given === undefined ? [] : folders.known.map((from) => absolute(given, from, paths.home));
  });
}

function move({ program, command }: ShellUnit, folders: Folders, paths: SessionPaths): void {
  if (program !== "cd" && program !== "pushd" && program !== "popd") return;
  const [to, ...more] = command.words.slice(1).filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text ?? ""));
  if (to?.text === undefined || to.glob || to.text === "-" || more.length > 0 || program === "popd") {
    if (to === undefined && program === "cd") folders.known.push(paths.home);
    else folders.lost = true;
    return;
  }
  folders.known = [...new Set(folders.known.flatMap((from) => [from, absolute(to.text!, from, paths.home)]))].slice(
    0,
    16,
  );
}

const NOWHERE = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"]);

function judgeRedirect(
  { operator, target }: Redirect,
  rules: readonly CompiledRule[],
  paths: SessionPaths,
  folders: Folders,
): JudgedPart[] {
  if (operator.startsWith("<<")) return [];
  if (operator.endsWith("&") && /^\d*-?$/.test(target.text ?? "x")) return [];
  const writes = operator !== "<" && operator !== "<&";
  const tool = writes ? "Write" : "Read";
  const { access } = FILE_TOOLS[tool];
  const what = `\`${operator} ${target.source}\``;
  if (target.text === undefined || target.glob || folders.lost) {
    const path = rules.filter(
      ({ pattern, restricts }) => restricts && pattern.type === "path" && access.includes(pattern.access),
    );
    const unsure = path.map(({ rule }): Considered => ({ rule, fit: "maybe", why: "its target is unknown" }));
    const secret =
      mentionsSecret(target.source, paths) ||
      (target.glob && folders.known.some((from) => mayBeSecret(absolute(target.text!, from, paths.home), paths)));
    return [resolvePart(what, unsure, secret ? SECRET(target.source) : undefined, !writes)];
  }
  if (NOWHERE.has(target.text)) return [];
  return folders.known.map((folder) => {
    const path = absolute(target.text!, folder, paths.home);
    return resolvePart(
      what,
      considerFile(rules, { tool, access, path }, paths),
      guardOfRedirect(path, writes, paths),
      !writes,
    );
  });
}

/** An unresolvable path asks for reads only if it may belong to another process. */
const guardOfRedirect = (path: string, writes: boolean, paths: SessionPaths): Caution | undefined =>
  writes ? guardOf(path, "write", paths) : isSecret(path, paths) ? SECRET(path) : undefined;

/** Judges a line that could not be parsed completely: every rule that may match it counts. */
function judgeDoubt(
  doubt: string,
  line: string,
  shell: readonly CompiledRule[],
  rules: readonly CompiledRule[],
  paths: SessionPaths,
): JudgedPart {
  const considered: Considered[] = [];
  for (const { rule, pattern, restricts } of shell) {
    if (pattern.type === "any") considered.push({ rule, fit: "yes", why: `it matches every ${rule.tool} call` });
    if (pattern.type === "command" && restricts)
      considered.push(mentioned(rule, mentionsProgram(pattern.command, line), doubt));
  }
  for (const { rule, pattern, restricts } of rules) {
    if (!restricts) continue;
    if (pattern.type === "path") {
      considered.push(mentioned(rule, pattern.path.name !== undefined && line.includes(pattern.path.name), doubt));
    }
    if (pattern.type === "domain") {
      const named = hostsIn(line).some((host) => isDomain(pattern.domain, host, true));
      if (named) considered.push(mentioned(rule, true, doubt));
    }
  }
  const secret = mentionsSecret(line, paths) ? SECRET(line) : undefined;
  return resolvePart("The line as a whole", considered, secret);
}

const mentioned = (rule: CompiledRule["rule"], named: boolean, doubt: string): Considered => ({
  rule,
  fit: named ? "yes" : "maybe",
  why: named ? `${doubt}, and it names what the rule is about` : doubt,
});

const UNSEEN = "its commands are unknown";

/** For words that may run other code. A deny that they do not mention leaves it to the caution, which an allow rule may lift. */
const unseen = (rule: CompiledRule["rule"], named: boolean): Considered =>
  !named && rule.action === "deny"
    ? { rule, fit: "no", why: `${UNSEEN}; it does not name it` }
    : mentioned(rule, named, UNSEEN);

/** The reason to ask about a command that no rule matches. */
function cautionOf(
  unit: ShellUnit,
  line: string,
  rules: readonly CompiledRule[],
  paths: SessionPaths,
  folders: Folders,
): Caution | undefined {
  const guarded = guardWords(unit, line, paths, [...folders.known, ...ownFolders(unit, paths, folders)]);
  if (guarded) return guarded;
  if (!deniesByPattern(rules)) return undefined;
  const unknown = (why: string): Caution => ({ why: `${why}, and rules deny some`, named: true });
  if (unit.program === undefined) return unknown("the program it runs is unknown");
  if (unit.hatches.length > 0) return unknown("it may run code that is not visible here");
  if (unit.reach === "unknown" && !unit.transparent) {
    return unknown(`what \`${unit.program}\` does beyond its arguments is unknown`);
  }
  return undefined;
}

const whyNot = (unit: ShellUnit): string =>
  unit.hatches.length > 0 ? "an argument may run other code, and the rule does not name it" : "the command differs";

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}
