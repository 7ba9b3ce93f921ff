/** Parts of a server and of another tenant that no agent may reach. */
export interface StrangerTargets {
  /** In the files of the other tenant, and the name of its process. */
  canary: string;
  files: Record<string, string>;
  servers: Record<string, string>;
  /** Folders, and an entry of each. */
  folders: Record<string, [path: string, entry: string]>;
  /** Folders with the sockets of other sandboxes. */
  sockets: readonly string[];
  pid: number;
  port: number;
}

/** A script that tries to reach each target, and prints a line `reached …` or `blocked …` for it. */
export function strangerScript(targets: StrangerTargets): string {
  const { canary, files, servers, folders, sockets, pid, port } = targets;
  const attempts: [string, string][] = [
    ...Object.entries(files).flatMap(([name, path]): [string, string][] => [
      [name, `grep -q ${canary} '${path}'`],
      [`writing to ${name}`, `echo x >> '${path}'`],
      [`a link to ${name}`, `ln -sf '${path}' ./stolen && grep -q ${canary} ./stolen`],
    ]),
    ...Object.entries(servers).map(([name, path]): [string, string] => [name, `head -c 1 '${path}' | grep -q .`]),
    ...Object.entries(folders).map(([name, [path, entry]]): [string, string] => [
      name,
      `ls '${path}' | grep -q ${entry}`,
    ]),
    ...sockets.map((path, index): [string, string] => [`sockets ${index}`, `ls '${path}' | grep -q sock`]),
    // In brackets, so that the attempt does not find itself.
    ["a process", `grep -qs '[c]${canary.slice(1)}' /proc/[0-9]*/cmdline`],
    ["a process' variables", `head -c 1 /proc/${pid}/environ | grep -q .`],
    ["a process' folder", `grep -q ${canary} /proc/${pid}/cwd/mine`],
    ["a signal", `kill -0 ${pid}`],
    ["the API", call("127.0.0.1", port)],
  ];
  return attempts
    .map(
      ([name, attempt]) =>
        `if ( ${attempt} ) >/dev/null 2>&1; then echo "reached ${name}"; else echo "blocked ${name}"; fi`,
    )
    .join("\n");
}

const call = (host: string, port: number): string =>
  `exec 3<>/dev/tcp/${host}/${port} && printf 'GET /healthz HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' >&3 && head -1 <&3 | grep -q HTTP`;
