import type { OptionTable } from "../option-table.ts";

// Backups (`-b`, `-S SUFFIX`) write to a file that no word names.

/** Programs that change the files that their words name. */
export const FILE_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  cp: {
    flags: "aAdfHilLnpPrRsuvxTXc",
    values: "t",
    long: `archive attributes-only copy-contents force interactive link dereference no-clobber no-dereference
      preserve[=] no-preserve= parents recursive reflink[=] remove-destination sparse= strip-trailing-slashes
      symbolic-link target-directory= no-target-directory update[=] verbose one-file-system help version`,
  },
  mv: {
    flags: "finuvT",
    values: "t",
    long: `force interactive no-clobber strip-trailing-slashes target-directory= no-target-directory update[=] verbose
      help version`,
  },
  ln: {
    flags: "fihLnPrsvTF",
    values: "t",
    long: `force interactive logical no-dereference physical relative symbolic target-directory= no-target-directory
      verbose help version`,
  },
  install: {
    flags: "cCdDpvT",
    values: "mogt",
    long: `compare directory group= mode= owner= preserve-timestamps target-directory= no-target-directory verbose
      help version`,
  },
  tee: { flags: "aip", long: "append ignore-interrupts output-error[=] help version" },
  dd: { operand: (text) => !/^(?:if|of)=\/dev\/(?!null$|zero$|urandom$|random$|stdin$|stdout$)/.test(text) },
  mktemp: { flags: "duqt", values: "p", long: "directory dry-run quiet tmpdir[=] suffix= help version" },
  uniq: {
    flags: "cdDiuz",
    values: "fsw",
    long: `count repeated all-repeated[=] skip-fields= group[=] ignore-case skip-chars= unique zero-terminated
      check-chars= help version`,
  },
  xxd: { words: "a b C e E i p ps plain u d v cols= c= g= groupsize= l= len= o= s= seek= n=" },
  base64: { flags: "dDih", values: "wb", long: "decode ignore-garbage wrap= break= help version" },
};
