import type { OptionTable } from "../option-table.ts";

// Left out everywhere: options that run an editor, a pager, gpg, a filter, a diff or merge driver or another program
// (`--ext-diff`, `--textconv`, `-O`, `--exec`, `--upload-pack`, `-S`), that write to a file (`--output`), that change settings
// (`-c`, `--template`), that leave the repository (`--no-index`, `-C`, `--git-dir`), and `--help`, which runs man.

/** `%G?` and `%(signature)` run gpg. */
const isPlainFormat = (text: string): boolean => !/%[-+ ]?G|signature/i.test(text);

/** `ext::COMMAND` and other helpers run programs. */
const isPlainRemote = (text: string): boolean => !text.includes("::") && !/\s/.test(text);

/** Merge strategies by another name are programs. */
const isStrategy = (text: string): boolean => /^(?:ort|recursive|resolve|octopus|ours|subtree)$/.test(text);

const DIFF_LONG = `patch no-patch unified[=] function-context no-function-context raw patch-with-raw patch-with-stat numstat
  shortstat dirstat[=] cumulative dirstat-by-file[=] check summary name-only name-status stat[=] stat-width=
  stat-name-width= stat-graph-width= stat-count= compact-summary binary full-index color[=] no-color
  ws-error-highlight= abbrev[=] no-abbrev src-prefix= dst-prefix= line-prefix= no-prefix default-prefix
  inter-hunk-context= output-indicator-new= output-indicator-old= output-indicator-context= break-rewrites[=]
  find-renames[=] irreversible-delete find-copies[=] find-copies-harder no-renames rename-empty no-rename-empty
  follow minimal ignore-all-space ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines
  ignore-matching-lines= indent-heuristic no-indent-heuristic patience histogram diff-algorithm= anchored=
  word-diff[=] word-diff-regex= color-words[=] color-moved[=] no-color-moved color-moved-ws= relative[=]
  no-relative text exit-code quiet no-ext-diff no-textconv ignore-submodules[=] ita-invisible-in-index
  ita-visible-in-index pickaxe-all pickaxe-regex rotate-to= skip-to= find-object= diff-filter= merge-base cached
  staged cc combined-all-paths base ours theirs`;
const DIFF: OptionTable = { flags: "puswbaRWDz", values: "SGlI", glued: "UBMCX", numbers: true, long: DIFF_LONG };

const LOG_LONG = `${DIFF_LONG} oneline graph all branches[=] tags[=] remotes[=] glob= exclude= decorate[=] no-decorate
  decorate-refs= decorate-refs-exclude= source use-mailmap no-mailmap mailmap format= pretty[=] abbrev-commit
  no-abbrev-commit max-count= skip= since= after= until= before= since-as-filter= author= committer= grep=
  grep-reflog= all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp
  merges no-merges min-parents= max-parents= no-min-parents no-max-parents first-parent not reflog merge boundary
  simplify-by-decoration simplify-merges full-history dense sparse ancestry-path[=] cherry cherry-mark
  cherry-pick left-only right-only left-right walk-reflogs date-order author-date-order topo-order reverse
  objects count date= relative-date parents children timestamp no-patch notes[=] no-notes log-size full-diff
  remove-empty show-pulls show-linear-break[=] encoding= expand-tabs[=] no-expand-tabs no-walk[=] do-walk
  diff-merges= no-diff-merges remerge-diff dd clear-decorations no-use-mailmap ignore-missing stdin header
  bisect quiet no-commit-header commit-header`;
const LOG: OptionTable = {
  flags: "puswbaRWDzgiEFPrtcmq",
  values: "SGlILn",
  glued: "UBMCX",
  numbers: true,
  long: LOG_LONG,
  accepts: { format: isPlainFormat, pretty: isPlainFormat },
};

const FORMATTED: OptionTable["accepts"] = { format: isPlainFormat };

const READS: Readonly<Record<string, OptionTable>> = {
  status: {
    flags: "svbz",
    glued: "uM",
    long: `short branch show-stash porcelain[=] long verbose untracked-files[=] ignore-submodules[=] ignored[=] null
      column[=] no-column ahead-behind no-ahead-behind renames no-renames find-renames[=]`,
  },
  log: LOG,
  show: LOG,
  whatchanged: LOG,
  diff: DIFF,
  "diff-tree": { ...LOG, flags: `${LOG.flags}v` },
  "diff-index": DIFF,
  "diff-files": DIFF,
  "rev-list": LOG,
  "rev-parse": {
    flags: "q",
    long: `parseopt sq-quote keep-dashdash stop-at-non-option stuck-long revs-only no-revs flags no-flags default= prefix=
      verify quiet sq short[=] not abbrev-ref[=] symbolic symbolic-full-name output-object-format= all branches[=] tags[=]
      remotes[=] glob= exclude= exclude-hidden= disambiguate= local-env-vars path-format= git-dir git-common-dir
      resolve-git-dir= git-path= show-toplevel show-superproject-working-tree shared-index-path absolute-git-dir
      is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository show-cdup show-prefix
      show-object-format[=] show-ref-format since= after= until= before=`,
  },
  blame: {
    flags: "bltspewfnk",
    values: "LS",
    glued: "MC",
    long: `root show-stats reverse porcelain line-porcelain incremental encoding= date= progress no-progress ignore-rev=
      ignore-revs-file= color-lines color-by-age abbrev= show-name show-number show-email minimal first-parent
      since=`,
  },
  shortlog: {
    ...LOG,
    flags: "nsec",
    values: "",
    glued: "w",
    long: `${LOG_LONG} numbered summary email committer group=`,
  },
  describe: {
    long: `dirty[=] broken[=] all tags contains abbrev= candidates= exact-match debug long match= exclude= always
      first-parent`,
  },
  "ls-files": {
    flags: "cdmoistuvkzf",
    values: "x",
    long: `cached deleted modified others ignored stage directory no-empty-directory unmerged killed exclude=
      exclude-standard error-unmatch with-tree= full-name recurse-submodules abbrev[=] debug eol deduplicate
      sparse format= resolve-undo`,
  },
  "ls-tree": {
    flags: "drtlz",
    long: "name-only name-status object-only long abbrev[=] full-name full-tree format=",
  },
  // `--textconv` and `--filters` run programs.
  "cat-file": {
    flags: "tspeZz",
    long: "batch[=] batch-check[=] batch-all-objects buffer unordered allow-unknown-type follow-symlinks mailmap",
  },
  "merge-base": { flags: "a", long: "all octopus independent is-ancestor fork-point" },
  "name-rev": { long: "tags refs= exclude= all name-only no-undefined always" },
  "count-objects": { flags: "vH", long: "verbose human-readable" },
  "check-ignore": { flags: "qvnz", long: "quiet verbose stdin non-matching" },
  "check-attr": { flags: "az", long: "all stdin cached" },
  "show-ref": {
    flags: "dsq",
    long: "head heads branches tags dereference hash[=] verify exists abbrev[=] quiet",
  },
  "for-each-ref": {
    long: `count= sort= format= points-at= merged[=] no-merged[=] contains[=] no-contains[=] ignore-case color[=] exclude=
      stdin`,
    accepts: FORMATTED,
  },
  cherry: { flags: "v", long: "verbose abbrev[=]" },
  version: { long: "build-options" },
  // `-O` runs a pager.
  grep: {
    flags: "aiIvhHEGFPnlLzcoqrpWw",
    values: "eABCmf",
    numbers: true,
    long: `cached untracked exclude-standard no-exclude-standard recurse-submodules text ignore-case word-regexp
      invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column
      files-with-matches name-only files-without-match null only-matching count color[=] no-color break heading
      show-function context= after-context= before-context= function-context max-count= threads= max-depth=
      recursive no-recursive and or not all-match quiet no-textconv`,
  },
  // `expire`, `delete` and `drop` remove entries.
  reflog: { ...LOG, operand: (text, position) => position > 0 || !/^(?:expire|delete|drop)$/.test(text) },
};

const FETCH_LONG = `all append atomic depth= deepen= shallow-since= shallow-exclude= unshallow update-shallow dry-run force
  keep multiple prune prune-tags tags no-tags recurse-submodules[=] no-recurse-submodules jobs= set-upstream quiet
  verbose progress no-progress ipv4 ipv6 filter= refetch no-auto-maintenance no-auto-gc show-forced-updates
  no-show-forced-updates`;
const MERGE_LONG = `stat no-stat summary no-summary log[=] no-log squash no-squash commit no-commit no-edit ff no-ff ff-only
  no-verify-signatures strategy-option= autostash no-autostash allow-unrelated-histories signoff no-gpg-sign
  strategy= cleanup=`;
const MERGES = { s: isStrategy, strategy: isStrategy };
const PICK: OptionTable = {
  flags: "nxr",
  values: "mXs",
  long: `no-commit mainline= quit continue abort skip strategy= strategy-option= no-edit allow-empty allow-empty-message
    keep-redundant-commits ff signoff no-gpg-sign cleanup= reference`,
  accepts: { ...MERGES, strategy: isStrategy },
};
const PATHS = "pathspec-from-file= pathspec-file-nul";

/** Subcommands that change the repository, its folder or a remote. `apply` writes the files that a patch names. */
const WRITES: Readonly<Record<string, OptionTable>> = {
  add: {
    flags: "nvfuAN",
    long: `dry-run verbose force update all no-all ignore-removal intent-to-add refresh ignore-errors ignore-missing sparse
      chmod= renormalize ${PATHS}`,
  },
  commit: {
    flags: "aqvsnoiz",
    values: "mFC",
    glued: "u",
    long: `all quiet verbose message= file= reuse-message= fixup= squash= reset-author author= date= signoff no-signoff
      no-edit amend no-verify allow-empty allow-empty-message dry-run short branch porcelain long null cleanup=
      only include no-gpg-sign untracked-files[=] no-status status no-post-rewrite ${PATHS}`,
  },
  push: {
    flags: "uqvfnd46",
    values: "o",
    long: `all branches mirror delete tags follow-tags dry-run porcelain force force-with-lease[=] no-force-with-lease
      force-if-includes set-upstream quiet verbose progress no-progress no-verify prune atomic push-option=
      no-signed thin no-thin ipv4 ipv6 recurse-submodules=`,
    operand: isPlainRemote,
  },
  fetch: { flags: "apPktnqvfum46", values: "jo", long: FETCH_LONG, operand: isPlainRemote },
  pull: {
    flags: "qvnpkaft46",
    values: "Xjs",
    glued: "r",
    long: `${FETCH_LONG} ${MERGE_LONG} rebase[=] no-rebase`,
    accepts: MERGES,
    operand: isPlainRemote,
  },
  "ls-remote": {
    flags: "htq",
    long: "heads tags branches refs quiet exit-code get-url sort= symref",
    operand: isPlainRemote,
  },
  clone: {
    flags: "qvnls46",
    values: "boj",
    long: `quiet verbose progress no-checkout branch= origin= depth= shallow-since= shallow-exclude= single-branch
      no-single-branch no-tags recurse-submodules[=] shallow-submodules no-shallow-submodules remote-submodules
      jobs= filter= sparse local no-hardlinks no-local ipv4 ipv6 reject-shallow`,
    operand: isPlainRemote,
  },
  checkout: {
    flags: "qfltmd",
    values: "bB",
    long: `quiet progress no-progress force ours theirs detach track[=] no-track guess no-guess orphan= merge conflict=
      overlay no-overlay ignore-other-worktrees ignore-skip-worktree-bits recurse-submodules
      no-recurse-submodules ${PATHS}`,
  },
  switch: {
    flags: "dfmqt",
    values: "cC",
    long: `create= force-create= detach guess no-guess force discard-changes merge conflict= quiet progress no-progress
      track[=] no-track orphan= ignore-other-worktrees recurse-submodules no-recurse-submodules`,
  },
  restore: {
    flags: "WSqm",
    values: "s",
    long: `source= worktree staged quiet progress no-progress ours theirs merge conflict= ignore-unmerged overlay
      no-overlay recurse-submodules no-recurse-submodules ${PATHS}`,
  },
  reset: { flags: "qN", long: `quiet no-quiet soft mixed hard merge keep intent-to-add refresh no-refresh ${PATHS}` },
  merge: {
    flags: "nqv",
    values: "mXsF",
    long: `${MERGE_LONG} message= file= into-name= quiet verbose progress no-progress abort quit continue no-verify
      overwrite-ignore no-overwrite-ignore rerere-autoupdate no-rerere-autoupdate`,
    accepts: MERGES,
  },
  rebase: {
    flags: "qvmfnk",
    values: "Xs",
    glued: "r",
    long: `onto= keep-base continue skip abort quit show-current-patch apply merge empty= keep-empty no-keep-empty
      reapply-cherry-picks no-reapply-cherry-picks allow-empty-message strategy= strategy-option= no-gpg-sign
      quiet verbose stat no-stat no-verify no-ff force-rebase fork-point no-fork-point ignore-whitespace
      whitespace= committer-date-is-author-date ignore-date reset-author-date signoff rebase-merges[=]
      no-rebase-merges autosquash no-autosquash autostash no-autostash root update-refs no-update-refs`,
    accepts: MERGES,
  },
  "cherry-pick": PICK,
  revert: PICK,
  branch: {
    flags: "arvdDmMcCflqitz",
    values: "u",
    long: `all remotes verbose quiet delete move copy force list show-current track[=] no-track set-upstream-to=
      unset-upstream contains[=] no-contains[=] merged[=] no-merged[=] points-at= sort= format= column[=]
      no-column color[=] no-color abbrev[=] no-abbrev ignore-case create-reflog omit-empty`,
    accepts: FORMATTED,
  },
  tag: {
    flags: "adfli",
    values: "mF",
    glued: "n",
    long: `annotate delete force list message= file= sort= contains[=] no-contains[=] merged[=] no-merged[=] points-at=
      format= column[=] no-column color[=] ignore-case create-reflog cleanup= no-sign omit-empty`,
    accepts: FORMATTED,
  },
  remote: { flags: "vtnmp", long: "verbose tags no-tags push all add delete dry-run prune", operand: isPlainRemote },
  stash: {
    ...DIFF,
    flags: `${DIFF.flags}kqu`,
    values: `${DIFF.values}m`,
    long: `${DIFF_LONG} keep-index no-keep-index include-untracked no-include-untracked only-untracked all message= index
      staged oneline format= max-count= ${PATHS}`,
    accepts: FORMATTED,
  },
  worktree: {
    flags: "fdqnvz",
    values: "bB",
    long: `force detach checkout no-checkout guess-remote no-guess-remote track no-track lock reason= quiet orphan dry-run
      verbose expire= porcelain`,
  },
  init: { flags: "q", values: "b", long: "quiet initial-branch= object-format= shared[=]" },
  mv: { flags: "fknv", long: "force dry-run verbose sparse" },
  rm: { flags: "frnq", long: `force dry-run cached ignore-unmatch quiet sparse ${PATHS}` },
  clean: { flags: "dfqnxX", values: "e", long: "force dry-run quiet exclude=" },
};

export const GIT: OptionTable = {
  flags: "Pv",
  long: `no-pager no-optional-locks no-replace-objects no-lazy-fetch literal-pathspecs glob-pathspecs noglob-pathspecs
    icase-pathspecs version`,
  subcommands: { ...READS, ...WRITES },
};
