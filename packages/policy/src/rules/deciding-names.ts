/** Files and folders that control which programs run, or what Tandem allows this session. */
export const DECIDING_NAMES: readonly string[] =
  ".git .gitconfig .claude .husky .tandem .opencode tandem.yaml .mcp.json .envrc opencode.json opencode.jsonc".split(
    " ",
  );

/** The first part of a path that is such a name, in any spelling that a file system takes for it. */
export const findDecidingName = (path: string): string | undefined => path.split(/[/\\]/).find(isDecidingName);

export function isDecidingName(name: string): boolean {
  const folded = foldName(name);
  const short = /^([^~]+)~\d/.exec(folded)?.[1];
  return DECIDING_NAMES.some((each) => each === folded || shortName(each) === short);
}

/** NTFS and FAT take `GIT~1` for `.git` and `MCP~1.JSO` for `.mcp.json`. */
const shortName = (name: string): string => /^\.?([^.]{1,6})/.exec(name)![1]!;

/**
 * Folds the spellings of one name: case and composition, the characters that HFS+ ignores, and the trailing dots, spaces and
 * streams (`name::$DATA`) that NTFS ignores. Each folder may be on another file system, so all of them count everywhere.
 */
export const foldName = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    .replace(/:.*$/, "")
    .replace(/(?<=[^. ])[. ]+$/, "");
