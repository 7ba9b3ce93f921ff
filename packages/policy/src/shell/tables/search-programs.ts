import type { OptionTable } from "../option-table.ts";

/** Programs that search folders. Find has its own check, because `-exec` takes a command. */
export const SEARCH_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  // `--pre` and `--hostname-bin` run a program, `-z` runs decompressors.
  rg: {
    flags: "acFHhiIlLnNoPpqsSUuvwx0V.",
    values: "ABCEMTdefgjmrt",
    long: `after-context= before-context= context= auto-hybrid-regex binary block-buffered byte-offset case-sensitive
      color= colors= column context-separator= count count-matches crlf debug dfa-size-limit= encoding= engine=
      field-context-separator= field-match-separator= file= files files-with-matches files-without-match
      fixed-strings follow glob= glob-case-insensitive heading help hidden hyperlink-format= iglob= ignore-case
      ignore-file= ignore-file-case-insensitive include-zero invert-match json line-buffered line-number
      line-regexp max-columns= max-columns-preview max-count= max-depth= maxdepth= max-filesize= mmap multiline
      multiline-dotall no-binary no-block-buffered no-column no-config no-context-separator no-crlf no-encoding
      no-filename no-fixed-strings no-follow no-glob-case-insensitive no-heading no-hidden no-ignore
      no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent
      no-ignore-vcs no-include-zero no-invert-match no-json no-line-buffered no-line-number
      no-max-columns-preview no-messages no-mmap no-multiline no-multiline-dotall no-one-file-system no-pcre2
      no-require-git no-stats no-text no-trim no-unicode null null-data one-file-system only-matching
      passthru path-separator= pcre2 pcre2-version pretty quiet regex-size-limit= regexp= replace= smart-case sort=
      sortr= stats stop-on-nonmatch text threads= trace trim type= type-add= type-clear= type-list type-not=
      unrestricted version vimgrep with-filename word-regexp`,
  },
  // `-x` and `-X` run a program.
  fd: {
    flags: "HIuspaLl0gFihVq1",
    values: "dtESoceCj",
    long: `hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob fixed-strings
      absolute-path list-details follow full-path print0 max-depth= min-depth= exact-depth= exclude= prune type=
      extension= size= changed-within= changed-before= newer= older= owner= format= color= threads=
      max-results= max-one-file-system one-file-system strip-cwd-prefix[=] quiet show-errors base-directory=
      path-separator= search-path= and= help version`,
  },
};
