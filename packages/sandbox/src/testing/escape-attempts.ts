/** Targets on the host, made by the test. */
export interface Targets {
  /** A file with Tandem's token. */
  token: string;
  /** The user's home on the host. */
  home: string;
  /** Another session's folder. */
  otherSession: string;
  /** A process of the same user, with the secret in its environment. */
  pid: number;
  /** A unix socket, a name of an abstract one, and a port of 127.0.0.1. */
  socket: string;
  abstract: string;
  port: number;
  secret: string;
}

export interface Attempt {
  name: string;
  /** A shell script in the session's folder. Exit code 0: it got out. */
  script: (targets: Targets) => string;
  /** Outside of a sandbox, only root succeeds. */
  needsRoot?: true;
  /** Kernels may be built or configured without it. */
  dependsOnKernel?: true;
  /** Does nothing outside, so that only the run inside counts. */
  onlyInside?: true;
}

/** System call numbers by `process.arch`. */
const calls = (x64: number, arm64: number): number => (process.arch === "x64" ? x64 : arm64);
const perl = (script: string): string => `perl -e '${script}'`;
const connect = (family: number, address: string): string =>
  perl(
    `socket(S, ${family}, 1, 0) or exit 1; connect(S, ${address}) or exit 1; sysread(S, $b, 5); exit($b eq "HELLO" ? 0 : 1)`,
  );
const call = (number: number, ...args: (string | number)[]): string =>
  perl(`$b = "\\0" x 256; exit(syscall(${[number, ...args].join(", ")}) == -1 ? 1 : 0)`);

export const ESCAPE_ATTEMPTS: readonly Attempt[] = [
  { name: "read the server's token", script: ({ token, secret }) => `grep -q ${secret} ${token}` },
  { name: "list Tandem's folder", script: ({ token }) => `ls "$(dirname ${token})" | grep -q token` },
  { name: "read an ssh key", script: ({ home, secret }) => `grep -q ${secret} ${home}/.ssh/id_ed25519` },
  { name: "list the home", script: ({ home }) => `ls -a ${home} | grep -q .ssh` },
  { name: "read another session's folder", script: ({ otherSession, secret }) => `grep -rq ${secret} ${otherSession}` },
  { name: "write another session's folder", script: ({ otherSession }) => `touch ${otherSession}/planted` },
  {
    name: "read a credential of a toolchain",
    script: ({ home, secret }) => `grep -rq ${secret} ${home}/.cargo ${home}/.nvm`,
  },
  { name: "plant a program in a toolchain", script: ({ home }) => `touch ${home}/.cargo/bin/planted` },
  { name: "read environments of the host", script: ({ secret }) => `grep -qs ${secret} /proc/[0-9]*/environ` },
  { name: "read the root of another process", script: ({ pid, token }) => `cat /proc/${pid}/root${token}` },
  { name: "trace a process", dependsOnKernel: true, script: ({ pid }) => call(calls(101, 117), 0x4206, pid, 0, 0) },
  { name: "signal a process", script: ({ pid }) => `kill -0 ${pid}` },
  { name: "connect to a unix socket", script: ({ socket }) => connect(1, `pack("S a108", 1, "${socket}")`) },
  { name: "connect to an abstract socket", script: ({ abstract }) => connect(1, `pack("S a*", 1, "\\0${abstract}")`) },
  {
    name: "connect to the host's loopback",
    script: ({ port }) => connect(2, `pack("S n C4 x8", 2, ${port}, 127, 0, 0, 1)`),
  },
  { name: "follow a symbolic link out", script: ({ token }) => `ln -sf ${token} link && cat link` },
  { name: "make a hard link to a file outside", script: ({ token }) => `rm -f hard; ln ${token} hard` },
  { name: "make a user namespace", script: () => "unshare --user --map-root-user true" },
  { name: "mount in a new namespace", script: () => "unshare --user --map-root-user --mount mount -t tmpfs none /mnt" },
  { name: "clone into a namespace", script: () => call(calls(56, 220), 0x10000011, 0, 0, 0, 0) },
  { name: "mount", script: () => "mkdir -p m && mount -t tmpfs none m && umount m", needsRoot: true },
  {
    name: "remount the system writable",
    script: () => "mount -o remount,bind,rw /usr && touch /usr/planted-by-test && rm /usr/planted-by-test",
    needsRoot: true,
    onlyInside: true,
  },
  {
    name: "enter the namespaces of another process",
    script: ({ pid }) => `nsenter --target ${pid} --mount true`,
    needsRoot: true,
  },
  {
    name: "enter the namespaces of init",
    script: () => "nsenter --target 1 --mount true",
    needsRoot: true,
    onlyInside: true,
  },
  { name: "plant a git hook", script: () => "echo true >.git/hooks/post-checkout" },
  { name: "set a git filter", script: () => "git config filter.x.clean true" },
  { name: "set git attributes", script: () => "echo '* filter=x' >.git/info/attributes" },
  { name: "replace the repository", script: () => "cp -r .git copy && mv .git old && { mv copy .git; rm -rf old; }" },
  {
    name: "write the system's programs",
    script: () => "touch /usr/bin/planted-by-test && rm /usr/bin/planted-by-test",
    needsRoot: true,
  },
  { name: "write /etc", script: () => "touch /etc/planted-by-test && rm /etc/planted-by-test", needsRoot: true },
  { name: "write /", script: () => "touch /planted-by-test && rm /planted-by-test", needsRoot: true },
  { name: "write /dev", script: () => "touch /dev/planted-by-test && rm /dev/planted-by-test", needsRoot: true },
  { name: "read the shadow file", script: () => "cat /etc/shadow", needsRoot: true },
  {
    name: "name the kernel's core dump program",
    script: () => 'v=$(cat /proc/sys/kernel/core_pattern) && echo "$v" >/proc/sys/kernel/core_pattern',
    needsRoot: true,
  },
  {
    name: "set a limit of the kernel",
    script: () => "v=$(cat /proc/sys/kernel/pid_max) && echo $v >/proc/sys/kernel/pid_max",
    needsRoot: true,
  },
  { name: "make a device", script: () => "rm -f node; mknod node c 1 3 && echo x >node", needsRoot: true },
  { name: "leave a set-user-ID program", script: () => "cp /bin/true program && chmod u+s program" },
  {
    name: "create a set-user-ID program",
    script: () => `rm -f new; ${perl('sysopen(F, "new", 0x41, 04755) or exit 1')}; test -u new`,
  },
  {
    name: "type into a terminal",
    dependsOnKernel: true,
    script: () =>
      `script -qec "perl -e 'open T, q(+<), q(/dev/tty) or exit 1; \\$b = q(x); exit(ioctl(T, 0x5412, \\$b) ? 0 : 1)'" /dev/null </dev/null`,
  },
  {
    name: "make a socket to the virtual machine's host",
    dependsOnKernel: true,
    script: () => perl("exit(socket(S, 40, 1, 0) ? 0 : 1)"),
  },
  {
    name: "make a packet socket",
    dependsOnKernel: true,
    script: () => perl("exit(socket(S, 17, 3, 0) ? 0 : 1)"),
    needsRoot: true,
  },
  {
    name: "attach to a process inside",
    dependsOnKernel: true,
    script: () => `sleep 60 & p=$!; P=$p ${call(calls(101, 117), 0x4206, "$ENV{P} + 0", 0, 0)}; r=$?; kill $p; exit $r`,
  },
  { name: "make an io_uring", dependsOnKernel: true, script: () => call(425, 1, "$b") },
  { name: "use the kernel's keyring", dependsOnKernel: true, script: () => call(calls(250, 219), 0, -3, 1) },
  {
    name: "load a BPF program",
    dependsOnKernel: true,
    script: () => call(calls(321, 280), 0, 'pack("L4", 2, 4, 4, 1) . $b', 72),
    needsRoot: true,
  },
];
