import type { SandboxViolationKind } from "@tandem/protocol";

/** Explains a blocked operation, in one sentence for the rule and one for the fix. */
interface BlockedAction {
  kind: SandboxViolationKind;
  target: string;
  rule: string;
  fix: string;
  /** The proxy has reported it already. */
  isReported?: true;
}

interface FailurePlace {
  /** The path of the home inside. */
  home: string;
  /** The limits that the configuration sets. A failure that looks like a limit is one only then. */
  limits?: { memoryMb?: number; files?: number; fileMb?: number };
  /** The top folder of the git repository that the session's folder is below. */
  repository?: string;
}

interface Failure extends FailurePlace {
  text: string;
}

interface Row {
  pattern: RegExp;
  explain: (groups: Record<string, string | undefined>, place: Failure) => BlockedAction | undefined;
}

// Programs inside choose the text: every repetition is bounded, and patterns see short lines only.
const PATH = String.raw`(?<path>~?/[^\s'"’:;,)\]]{1,200})`;
const HOST = String.raw`(?<host>[a-z0-9][a-z0-9.-]{0,200}[a-z0-9])`;
const LOOPBACK = String.raw`(?:127\.0\.0\.1|localhost|::1)[)"'\]]{0,3}(?::|,? port:? )(?<port>\d{2,5})`;
const MISSING = String.raw`(?:No such file or directory|ENOENT|does not exist|not found|cannot access)`;

const YAML = (setting: string): string => `The user can add to tandem.yaml: sandbox: { ${setting} }`;
const AGENT_FIX =
  "The user can set sandbox.sshAgent: true in tandem.yaml, or use an https remote with sandbox.credentials.";
const credentialFix = (host: string): string =>
  YAML(`credentials: [{ host: ${host}, header: Authorization, value: "env:NAME" }]`) + ".";

/** Folders of the home that hold credentials, with the way to work without seeing them. */
const HIDDEN: readonly { folder: string; fix: string }[] = [
  { folder: ".ssh", fix: AGENT_FIX },
  { folder: ".git-credentials", fix: credentialFix("github.com") },
  { folder: ".netrc", fix: credentialFix("HOST") },
  { folder: ".npmrc", fix: credentialFix("registry.npmjs.org") },
  ...[".aws", ".azure", ".kube", ".gnupg", ".docker", ".config"].map((folder) => ({
    folder,
    fix: `${YAML(`mounts: [{ path: ~/${folder} }]`)}. The session can then read everything in it.`,
  })),
];

/** Ports of common services. A refused connection to another port of loopback is an ordinary failure. */
const SERVICES: Readonly<Record<string, string>> = {
  1433: "SQL Server",
  3306: "MySQL",
  5432: "PostgreSQL",
  5672: "RabbitMQ",
  6379: "Redis",
  8123: "ClickHouse",
  9200: "Elasticsearch",
  11434: "Ollama",
  27017: "MongoDB",
};

const row = (pattern: string, explain: Row["explain"]): Row => ({ pattern: new RegExp(pattern, "i"), explain });

const action = (kind: SandboxViolationKind, target: string, rule: string, fix: string): BlockedAction => ({
  kind,
  target,
  rule,
  fix,
});

/** A failure that a limit causes, if the configuration sets it. */
const limit = (
  pattern: string,
  name: keyof NonNullable<FailurePlace["limits"]>,
  allowed: (most: number) => string,
): Row =>
  row(pattern, (_, { limits }) => {
    const most = limits?.[name];
    if (most === undefined) return undefined;
    return action("limit", name, `The sandbox allows ${allowed(most)}.`, `The user can raise sandbox.limits.${name}.`);
  });

const refusedByProxy = (host: string, rule: string): BlockedAction => ({
  kind: "host",
  target: host,
  rule,
  fix: `The user can allow it on the session's page, or with: tandem sandbox allow ${host}`,
  isReported: true,
});

const noDirectNetwork = (host: string): BlockedAction =>
  action(
    "host",
    host,
    "Programs in the sandbox reach the network through its proxy only.",
    "Use a program that reads HTTPS_PROXY (curl, git over https, npm, pip), or pass $HTTPS_PROXY to the program's proxy option.",
  );

/** The first row that matches explains the failure, so specific rows come first. */
const ROWS: readonly Row[] = [
  row(String.raw`The sandbox (?:does not allow the host|allows) ${HOST}`, ({ host = "" }) =>
    refusedByProxy(host, `The sandbox does not allow the host ${host}.`),
  ),
  row(
    String.raw`unable to access 'https?://(?:[^@/']{0,100}@)?${HOST}(?<port>:\d{2,5})?/[^\n]{0,200}response 403`,
    ({ host = "", port = "" }) => refusedByProxy(host + port, `The sandbox does not allow the host ${host}${port}.`),
  ),
  row(
    String.raw`(?:response 403|HTTP code 403 from proxy|statusCode=403|Tunnel connection failed: 403|proxy.{0,40}403)`,
    () => refusedByProxy("HOST", "The sandbox's proxy refused the connection, because the host is not allowed."),
  ),
  row(String.raw`docker\.sock|Cannot connect to the Docker daemon|podman\.sock`, () =>
    action(
      "path",
      "/var/run/docker.sock",
      "The sandbox hides the sockets of container engines, because they control the whole machine.",
      "Run container commands outside of the session.",
    ),
  ),
  row(
    String.raw`Permission denied \((?:publickey|[^)]*publickey[^)]*)\)|no such identity|Host key verification failed|Could not open a connection to your authentication agent|error fetching identities`,
    () => action("path", "~/.ssh", "The sandbox hides ~/.ssh, so ssh has no keys and known hosts.", AGENT_FIX),
  ),
  row(
    String.raw`could not read (?:Username|Password) for '?https://(?:[^@/']*@)?${HOST}(?<port>:\d{2,5})?`,
    ({ host = "", port = "" }) =>
      action(
        "path",
        "~/.git-credentials",
        "The sandbox hides git's stored credentials.",
        credentialFix(host.toLowerCase() + port),
      ),
  ),
  row(String.raw`npm (?:error|ERR!) (?:code (?:E401|ENEEDAUTH)|.{0,20}401 Unauthorized)`, (_, { text }) => {
    const [, host = "registry.npmjs.org"] = /401 Unauthorized - \w+ https:\/\/([a-z0-9.-]{1,200})/i.exec(text) ?? [];
    return action("path", "~/.npmrc", "The sandbox hides ~/.npmrc, so npm has no token.", credentialFix(host));
  }),
  row("not a git repository", (_, { repository }) =>
    repository === undefined
      ? undefined
      : action(
          "path",
          `${repository}/.git`,
          "The session's folder is below the top folder of its git repository, which the sandbox hides.",
          `The user can start the session in ${repository}.`,
        ),
  ),
  row(
    String.raw`\.git/(?<file>config|hooks)\b[^\n]{0,120}(?:Read-only file system|EROFS|Device or resource busy)`,
    ({ file = "config" }) =>
      action(
        "path",
        `.git/${file}`,
        `.git/${file} is read-only in the sandbox, because git would run its programs outside.`,
        "Pass settings for one command with: git -c KEY=VALUE. The user can change the file outside.",
      ),
  ),
  row(
    String.raw`(?:EROFS[^\n]{0,200}?|cannot [^\n]{0,200}?|^|\s)['"‘]?${PATH}['"’]?[^\n]{0,40}Read-only file system`,
    ({ path = "" }, place) => readOnly(path, place),
  ),
  row(String.raw`EROFS[^\n]{0,200}?['"]${PATH}['"]`, ({ path = "" }, place) => readOnly(path, place)),
  row(String.raw`${PATH}['"’]?[^\n]{0,60}${MISSING}`, ({ path = "" }, place) => hidden(path, place)),
  row(String.raw`${MISSING}[^\n]{0,60}?['"\s]${PATH}`, ({ path = "" }, place) => hidden(path, place)),
  row(String.raw`ssh: Could not resolve hostname ${HOST}`, ({ host = "" }) =>
    action("host", `${host}:22`, "ssh does not use the sandbox's proxy by itself.", AGENT_FIX),
  ),
  row(
    String.raw`(?:Could not resolve host(?:name)?:? |getaddrinfo (?:EAI_AGAIN|ENOTFOUND) |Temporary failure in name resolution[^\n]{0,200}?|unable to resolve host (?:address )?['"‘]?)${HOST}`,
    ({ host = "" }) => noDirectNetwork(host),
  ),
  row(String.raw`Temporary failure in name resolution|Name or service not known`, () => noDirectNetwork("a host")),
  row(String.raw`Network is unreachable|ENETUNREACH|No route to host`, () => noDirectNetwork("the network")),
  row(String.raw`(?:ECONNREFUSED|Connection refused).{0,80}?${LOOPBACK}`, ({ port = "" }) => service(port)),
  row(String.raw`${LOOPBACK}\b.{0,80}(?:ECONNREFUSED|Connection refused)`, ({ port = "" }) => service(port)),
  row(String.raw`fork: (?:retry: )?Resource temporarily unavailable|spawn .{0,100} EAGAIN|can't start new thread`, () =>
    action(
      "limit",
      "processes",
      "The session has as many processes and threads as the sandbox allows.",
      `End some of them. ${YAML("limits: { processes: 4096 }")}.`,
    ),
  ),
  limit(String.raw`File size limit exceeded|EFBIG|File too large`, "fileMb", (most) => `files of ${most} MB`),
  limit(String.raw`Too many open files|EMFILE`, "files", (most) => `${most} open files per process`),
  limit(
    String.raw`Cannot allocate memory|ENOMEM|MemoryError|heap out of memory|std::bad_alloc`,
    "memoryMb",
    (most) => `${most} MB of memory`,
  ),
  row(String.raw`(?<path>/tmp/[^\s'":]*)[^\n]{0,80}(?:No space left on device|ENOSPC)`, () =>
    action(
      "limit",
      "/tmp",
      "The private /tmp of the sandbox is full.",
      "Delete files there, or use a folder in the session's folder: export TMPDIR=$PWD/.tmp",
    ),
  ),
];

/** The cause of a failure is near the end of its output. */
const LONGEST = 20_000;
const LINES = 100;
const LINE = 300;

/**
 * Explains the output of a failed tool call if the sandbox is the likely cause. Undefined otherwise. It reads only text, so it
 * may be wrong; it never decides anything.
 */
export function explainFailure(output: string, place: FailurePlace): BlockedAction | undefined {
  const text = output.slice(-LONGEST);
  const lines = text
    .split("\n")
    .slice(-LINES)
    .map((line) => line.slice(0, LINE));
  for (const { pattern, explain } of ROWS) {
    for (const line of lines) {
      const match = pattern.exec(line);
      const found = match && explain(match.groups ?? {}, { ...place, text });
      if (found) return found;
    }
  }
  return undefined;
}

function hidden(path: string, { home }: FailurePlace): BlockedAction | undefined {
  const inHome = path.startsWith("~/") ? path.slice(2) : path.startsWith(`${home}/`) ? path.slice(home.length + 1) : "";
  const known = HIDDEN.find(({ folder }) => inHome === folder || inHome.startsWith(`${folder}/`));
  return known && action("path", `~/${known.folder}`, `The sandbox hides ~/${known.folder}.`, known.fix);
}

const readOnly = (path: string, { home }: FailurePlace): BlockedAction => {
  const shown = path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
  return action(
    "path",
    shown,
    `${shown} is read-only in the sandbox.`,
    `Write below the session's folder, $HOME or /tmp. ${YAML(`mounts: [{ path: ${shown}, write: true }]`)}.`,
  );
};

const service = (port: string): BlockedAction | undefined => {
  const name = SERVICES[port];
  if (name === undefined) return undefined;
  return action(
    "host",
    `127.0.0.1:${port}`,
    `The sandbox has its own loopback, without the ${name} of the machine.`,
    `${YAML(`services: [{ port: ${port} }]`)}.`,
  );
};
