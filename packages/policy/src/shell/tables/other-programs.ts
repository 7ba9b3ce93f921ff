import type { OptionTable } from "../option-table.ts";

const NOTHING: OptionTable = { operand: () => false, subcommands: {} };

/** Editors and pagers run commands from within. */
const INTERACTIVE = Object.fromEntries(
  "vi vim nvim ex view ed emacs nano less more man pager".split(" ").map((name) => [name, NOTHING]),
);

/** `HOST:FILE` is fetched with rsh. */
const isLocal = (text: string): boolean => !text.includes(":");
// Left out: `-I`, `-F`, `--to-command` and `--checkpoint-action` run programs, `-T` reads options, `-g` and `-P` write elsewhere.
const TAR: OptionTable = {
  flags: "cxtzjJvpkhmOaruZS",
  values: "fCX",
  long: `create extract get list gzip bzip2 xz zstd verbose preserve-permissions same-permissions keep-old-files
    dereference touch to-stdout auto-compress append update file= directory= exclude= exclude-from=
    exclude-vcs exclude-vcs-ignores strip-components= wildcards no-wildcards anchored no-recursion
    numeric-owner no-same-owner no-same-permissions same-owner sort= mtime= owner= group= mode=
    totals force-local one-file-system full-time sparse version help`,
  accepts: {
    f: isLocal,
    file: isLocal,
  },
  // The first word may be options without a dash: `tar czf x.tgz src`.
  operand: (text, position, seen) =>
    isLocal(text) && (position > 0 || seen.size > 0 || /^[cxtzjJvpkhmOaruZSfC]+$/.test(text)),
};

const DOCKER_BUILD: OptionTable = {
  flags: "q",
  values: "tf",
  long: "tag= file= build-arg= target= no-cache platform= pull progress= quiet label= rm force-rm",
};
// Left out: mounts, devices, privileges, namespaces and entry points.
const DOCKER_RUN: OptionTable = {
  flags: "ditP",
  values: "pewum",
  long: `rm detach interactive tty name= publish= publish-all env= workdir= user= memory= cpus= platform= pull= label=
    restart= init read-only no-healthcheck quiet hostname= stop-timeout=`,
  stopsAfter: 1,
};
const DOCKER_LIST: OptionTable = {
  flags: "aqsl",
  glued: "fn",
  long: "all quiet size latest last= no-trunc format= filter= follow tail= since= until= timestamps details digests help",
};
const LOGS: OptionTable = { flags: "ft", glued: "n", long: "follow tail= since= until= timestamps details no-color" };
const COMPOSE: OptionTable = {
  flags: "adqtvf",
  glued: "n",
  long: `detach build no-build force-recreate no-recreate remove-orphans volumes rmi= timeout= quiet-pull pull[=] no-deps
    wait follow tail= since= until= timestamps no-color no-log-prefix all quiet services format= no-cache
    scale= always-recreate-deps abort-on-container-exit version`,
};
const DOCKER: OptionTable = {
  flags: "v",
  long: "version help",
  subcommands: {
    ps: DOCKER_LIST,
    images: DOCKER_LIST,
    logs: LOGS,
    inspect: { flags: "s", values: "f", long: "format= size type=" },
    build: DOCKER_BUILD,
    run: DOCKER_RUN,
    pull: { flags: "q", long: "quiet platform=" },
    stop: { values: "t", long: "time=" },
    start: {},
    restart: { values: "t", long: "time=" },
    rm: { flags: "fvl", long: "force volumes" },
    rmi: { flags: "f", long: "force no-prune" },
    kill: { values: "s", long: "signal=" },
    port: {},
    top: { operand: (text, position) => position === 0 || /^(?:aux|-ef)$/.test(text) },
    stats: { flags: "a", long: "all no-stream no-trunc format=" },
    version: { values: "f", long: "format=" },
    info: { values: "f", long: "format=" },
    history: DOCKER_LIST,
    tag: {},
    compose: {
      subcommands: Object.fromEntries(
        "up down ps logs build pull start stop restart images top version ls rm"
          .split(" ")
          .map((name) => [name, COMPOSE]),
      ),
    },
  },
};

// Left out: `-w` and `-e` open programs, `auth token` prints a credential, `alias`, `extension` and `repo clone -- …` run.
const GH_OPTIONS: OptionTable = {
  flags: "dfcDsmr",
  glued: "RLSABHlatbqF",
  long: `repo= limit= state= author= label= assignee= search= base= head= draft fill title= body= body-file= json= jq=
    comments patch name-only log log-failed job= workflow= branch= status= event= user= reviewer= milestone= add-label=
    remove-label= add-assignee= merge squash rebase delete-branch approve comment request-changes watch exit-status
    method= field= raw-field= header= paginate slurp include silent owner= language= sort= order= created= updated=`,
};
const GH: OptionTable = {
  long: "version help",
  subcommands: Object.fromEntries(
    "pr issue run workflow release api search label status ruleset".split(" ").map((name) => [name, GH_OPTIONS]),
  ),
};

export const OTHER_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  ...INTERACTIVE,
  tar: TAR,
  gtar: TAR,
  bsdtar: TAR,
  zip: { flags: "rq0123456789jvuyX", glued: "xi", long: "recurse-paths quiet exclude[=] include[=]" },
  unzip: { flags: "lqontvpjauCLX", glued: "dx" },
  "7z": { operand: (text, position) => position > 0 || /^[axltue]$/.test(text), words: "y r bd slt" },
  docker: DOCKER,
  podman: DOCKER,
  nerdctl: DOCKER,
  gh: GH,
};
