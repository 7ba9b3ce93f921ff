import { expect, test } from "vitest";
import { explainFailure } from "./explain-failure.ts";

const HOME = "/home/ann";
const explain = (output: string, limits = {}) => explainFailure(output, { home: HOME, limits });

test.each([
  ["cat: /home/ann/.ssh/id_ed25519: No such file or directory", "path", "~/.ssh", "sshAgent"],
  ["ls: cannot access '/home/ann/.aws': No such file or directory", "path", "~/.aws", "mounts: [{ path: ~/.aws }]"],
  ["Error: ENOENT: no such file or directory, open '/home/ann/.config/gh/hosts.yml'", "path", "~/.config", "mounts"],
  ["git@github.com: Permission denied (publickey).\nfatal: Could not read from remote", "path", "~/.ssh", "sshAgent"],
  ["Host key verification failed.", "path", "~/.ssh", "sshAgent"],
  [
    "fatal: could not read Username for 'https://github.com': No such device or address",
    "path",
    "~/.git-credentials",
    "host: github.com",
  ],
  [
    "fatal: could not read Username for 'https://git.example.com:8443': No such device or address",
    "path",
    "~/.git-credentials",
    "host: git.example.com:8443",
  ],
  [
    "npm error code E401\nnpm error 401 Unauthorized - GET https://npm.pkg.github.com/@acme%2fx - unauthenticated",
    "path",
    "~/.npmrc",
    "host: npm.pkg.github.com",
  ],
  ["npm ERR! code ENEEDAUTH\nnpm ERR! need auth", "path", "~/.npmrc", "registry.npmjs.org"],
  [
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "path",
    "/var/run/docker.sock",
    "outside",
  ],
  ["touch: cannot touch '/usr/local/x': Read-only file system", "path", "/usr/local/x", "write: true"],
  ["bash: /etc/hosts: Read-only file system", "path", "/etc/hosts", "mounts"],
  [
    "Error: EROFS: read-only file system, open '/home/ann/.nvm/alias/default'",
    "path",
    "~/.nvm/alias/default",
    "mounts",
  ],
  ["error: could not lock config file .git/config: Read-only file system", "path", ".git/config", "git -c"],
  ["curl: (56) CONNECT tunnel failed, response 403", "host", "HOST", "tandem sandbox allow"],
  ["The sandbox does not allow the host evil.example.", "host", "evil.example", "tandem sandbox allow evil.example"],
  ["curl: (6) Could not resolve host: example.com", "host", "example.com", "HTTPS_PROXY"],
  ["TypeError: fetch failed: getaddrinfo EAI_AGAIN api.example.com", "host", "api.example.com", "HTTPS_PROXY"],
  [
    "ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
    "host",
    "github.com:22",
    "sshAgent",
  ],
  ["connect: Network is unreachable", "host", "the network", "HTTPS_PROXY"],
  [
    'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
    "host",
    "127.0.0.1:5432",
    "services: [{ port: 5432 }]",
  ],
  ["Error: connect ECONNREFUSED 127.0.0.1:6379", "host", "127.0.0.1:6379", "services: [{ port: 6379 }]"],
  ["bash: fork: retry: Resource temporarily unavailable", "limit", "processes", "limits"],
  ["tar: /tmp/a.tar: Cannot write: No space left on device", "limit", "/tmp", "TMPDIR"],
])("explains %j", (output, kind, target, fix) => {
  expect(explain(output)).toMatchObject({ kind, target, fix: expect.stringContaining(fix) });
});

test.each([
  "cat: missing.txt: No such file or directory",
  "Error: ENOENT: no such file or directory, open '/srv/app/.config/x'",
  "Error: connect ECONNREFUSED 127.0.0.1:3000",
  "AssertionError: expected 403 to be 200",
  "1 test failed",
  "Cannot allocate memory",
  "Error: EMFILE: too many open files",
  "",
])("does not blame the sandbox for %j", (output) => expect(explain(output)).toBeUndefined());

test("a limit is the cause only if the configuration sets it", () => {
  expect(explain("Cannot allocate memory", { memoryMb: 512 })).toMatchObject({ kind: "limit", target: "memoryMb" });
  expect(explain("EMFILE", { files: 64 })?.rule).toContain("64");
  expect(explain("File size limit exceeded", { fileMb: 5 })?.rule).toContain("5 MB");
});

test("names the repository that the session's folder is below", () => {
  const output = "fatal: not a git repository (or any of the parent directories): .git";
  const place = { home: HOME, repository: "/home/ann/shop" };
  expect(explainFailure(output, place)).toMatchObject({
    target: "/home/ann/shop/.git",
    fix: expect.stringMatching(/shop\.$/),
  });
  expect(explain(output), "a folder without a repository").toBeUndefined();
});

test("every explanation is one line for each part", () => {
  const { rule, fix } = explain("Host key verification failed.")!;
  expect(`${rule}${fix}`).not.toContain("\n");
  expect(rule.endsWith(".")).toBe(true);
});

test.each(["/a", "ENOENT ", "cannot ", "127.0.0.1 ", "a.", "EROFS '/a", "ENOENT /a\n", "cannot /\n"])(
  "megabytes of %j are read quickly",
  (part) => {
    const started = performance.now();
    explain(part.repeat(500_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  },
);
