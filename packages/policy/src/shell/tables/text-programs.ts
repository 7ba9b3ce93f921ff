import type { OptionTable } from "../option-table.ts";

const EVERY: OptionTable = { everyOption: true };
const every = (names: string): Record<string, OptionTable> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, EVERY]));

/** Builtins that evaluate arithmetic run commands in array subscripts. */
const isNoSubscript = (text: string): boolean => !/\$\(|`|\[.*\$/.test(text);

/** `test -v 'a[x]'` evaluates x as arithmetic, and so the commands in its value. */
const isNoElement = (text: string): boolean => isNoSubscript(text) && !/\w\[/.test(text);

/** Programs that read files and print. */
export const TEXT_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  ...every(
    `ls cat head tail wc grep egrep fgrep pwd echo true false : uname whoami id groups which type basename
    dirname realpath readlink stat du df cmp comm cut tr nl tac rev fold fmt column seq md5sum sha1sum
    sha256sum sha512sum cksum sum od hexdump strings cd pushd popd dirs nproc uptime free tty
    paste join expand rm rmdir mkdir touch chmod chown chgrp truncate unlink shred`,
  ),
  test: { everyOption: true, operand: isNoElement },
  "[": { everyOption: true, operand: isNoElement },
  // `import` reads a JSON file from any folder, `-L` names such folders and `-f` a program.
  jq: {
    flags: "nrRscCMaSejbhV",
    long: `null-input raw-input slurp compact-output color-output monochrome-output ascii-output sort-keys raw-output
      raw-output0 join-output tab indent= unbuffered stream stream-errors seq exit-status arg= argjson= slurpfile=
      rawfile= args jsonargs binary version build-configuration help`,
    operand: (text) => !/\b(?:import|include)\s*["#]/.test(text),
  },
  // `-m` runs gzip.
  locale: { flags: "ackvV", long: "all-locales category-name keyword-name verbose help usage version" },
  // `printf -v` assigns a variable, and so evaluates subscripts.
  printf: { operand: isNoSubscript, stopsAfter: 1 },
  exit: { operand: (text) => /^\d+$/.test(text) },
  return: { operand: (text) => /^\d+$/.test(text) },
  break: { operand: (text) => /^\d+$/.test(text) },
  continue: { operand: (text) => /^\d+$/.test(text) },
  wait: { flags: "nf", operand: (text) => /^[\d%]+$/.test(text) },
  sleep: { operand: (text) => /^[\d.]+[smhd]?$/.test(text) },
  // On macOS, `arch` runs a program.
  arch: { operand: () => false },
  // An operand without `+` sets the clock.
  date: {
    flags: "uRj",
    values: "drfv",
    glued: "I",
    long: "utc universal iso-8601[=] date= rfc-3339= rfc-email rfc-2822 reference= resolution help version",
    operand: (text, _, seen) => text.startsWith("+") || seen.has("j"),
  },
  // `-C` writes a magic file, `-z` runs decompressors, `-p` sets times, `-m` and `-f` read other files.
  file: {
    flags: "bcEhiIkLNnrs0vd",
    long: `brief checking-printout extension dereference no-dereference keep-going mime mime-type mime-encoding
      no-buffer no-pad print0 raw special-files version help`,
  },
  // `-o` and `-T` write, `--compress-program` runs.
  sort: {
    flags: "bdfghiMnRrVcCmsuz",
    values: "kSt",
    long: `ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort
      ignore-nonprinting month-sort numeric-sort random-sort reverse version-sort sort= check[=] debug key=
      merge stable buffer-size= field-separator= parallel= unique zero-terminated help version`,
  },
  // `-o` writes, `-R` writes an index into each folder.
  tree: {
    flags: "adfxliqNQpugshDFvtcUrCnAXJS",
    values: "LPI",
    long: `noreport dirsfirst filesfirst gitignore prune du si matchdirs ignore-case charset= filelimit= sort=
      timefmt= inodes device nolinks metafirst info version help`,
  },
  // `-l` runs pr.
  diff: {
    flags: "abBcdeEiHnNpqrstTuvwy",
    values: "CFILSUWXDx",
    numbers: true,
    long: `normal brief report-identical-files context[=] unified[=] ed rcs side-by-side width= left-column
      suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize=
      suppress-blank-empty recursive no-dereference new-file unidirectional-new-file ignore-file-name-case
      exclude= exclude-from= starting-file= from-file= to-file= ignore-case ignore-tab-expansion
      ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines=
      text strip-trailing-cr ifdef= line-format= minimal horizon-lines= speed-large-files color[=] palette=
      help version`,
  },
  // BSD's `e` shows the variables of processes, credentials among them. Linux reads `-x` as `x` if it knows no `-x`, and
  // `-u NAME` too if there is no such user. Users are therefore numbers, but for `-aux`.
  ps: {
    flags: "AadefFHjlLTwyc",
    values: "pou",
    long: "pid= ppid= sort= no-headers no-heading headers forest cols= columns= rows= lines= width= version",
    accepts: {
      p: isNumbers,
      pid: isNumbers,
      ppid: isNumbers,
      o: isProcessColumns,
      u: (value) => isNumbers(value) || /^xw*f?$/.test(value),
    },
    // A comma makes sure that columns are not read as options.
    operand: (text) =>
      /^[acfghjlmruvwx]+o?$/.test(text) || isNumbers(text) || (text.includes(",") && isProcessColumns(text)),
  },
};

function isNumbers(text: string): boolean {
  return /^[\d,]+$/.test(text);
}

function isProcessColumns(text: string): boolean {
  const known = `pid ppid pgid sid tid lwp nlwp tty tt user uid ruser euser group gid comm cmd command args ucmd ucomm
    %cpu pcpu %mem pmem rss rsz vsz sz size stat state s etime etimes time cputime start lstart stime ni nice pri
    psr wchan f flags cgroup label`.split(/\s+/);
  return text.split(",").every((column) => known.includes(column.replace(/[=:].*$/, "")));
}
