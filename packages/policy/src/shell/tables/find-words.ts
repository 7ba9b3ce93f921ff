import type { ShellWord } from "../shell-word.ts";

const FLAGS = new Set(
  `-a -and -o -or -not -print -print0 -prune -ls -daystart -depth -d -follow -noleaf -mount -xdev -empty
  -executable -readable -writable -nouser -nogroup -true -false -quit -ignore_readdir_race
  -noignore_readdir_race -warn -nowarn -H -L -P -E -X -x -s -help --help -version --version`.split(/\s+/),
);
const VALUES = new Set(
  `-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin
  -atime -amin -ctime -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile
  -maxdepth -mindepth -printf -regextype -used -fstype`.split(/\s+/),
);
const RUNS = /^-(?:exec|execdir|ok|okdir)$/;

/** The end of the command after `-exec`; -1 if there is none. A `+` ends it only after `{}`, and is an argument elsewhere. */
export const endOfExec = (words: readonly ShellWord[], exec: number): number =>
  words.findIndex(
    ({ text }, at) => at > exec && (text === ";" || (text === "+" && at > exec + 2 && words[at - 1]!.text === "{}")),
  );

/** Returns the indexes of words of `find` that may run a program or write. The command after `-exec` is judged by itself. */
export function unlistedFindWords(words: readonly ShellWord[]): number[] {
  const unlisted: number[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const { text, glob } = words[at]!;
    if (text === undefined || (glob && /^[*?[]+$/.test(text))) unlisted.push(at);
    else if (RUNS.test(text)) {
      unlisted.push(at);
      const end = endOfExec(words, at);
      at = end === -1 ? words.length : end;
    } else if (VALUES.has(text) || /^-newer[aBcmt]{2}$/.test(text)) {
      at += 1;
      const value = words[at];
      // An unquoted variable or glob may become several words.
      if (value && (value.text === undefined || (value.glob && /^[*?[]+$/.test(value.text)))) unlisted.push(at);
    } else if (/^-./.test(text) && !FLAGS.has(text) && !/^-O\d$/.test(text)) unlisted.push(at);
  }
  return unlisted;
}
