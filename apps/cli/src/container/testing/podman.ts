import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

/** Built by `node scripts/build-image.ts`. */
const IMAGE = "localhost/tandem";
/** For containers on machines with cgroups of both versions, which crun refuses: a mount namespace with version 2 alone. */
const NAMESPACE = "umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; echo ready; exec sleep infinity";
/** The limits of this process: one without CAP_SYS_RESOURCE may not raise them. */
const LIMITS = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];

const read = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Why the image cannot be run here; undefined if it can. */
export function whyNoImage(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it needs root on Linux";
  if (!existsSync("/usr/bin/podman")) return "there is no podman";
  try {
    read("podman", ["image", "exists", IMAGE]);
    return undefined;
  } catch {
    return "the image is not built: node scripts/build-image.ts";
  }
}

export interface Podman extends AsyncDisposable {
  /** Starts the image with the network of this machine. Returns the container's name. */
  run(name: string, options: readonly string[], args: readonly string[]): Promise<string>;
  exec(container: string, ...command: string[]): Promise<string>;
  logs(container: string): Promise<string>;
  /** Stops it like an operator; resolves with its exit code. */
  stop(container: string): Promise<number>;
}

export async function openPodman(): Promise<Podman> {
  const holder = spawn("unshare", ["-m", "sh", "-c", NAMESPACE], { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  const containers: string[] = [];
  const podman = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("nsenter", ["-t", String(holder.pid), "-m", "podman", ...args]);
    return stdout;
  };
  return {
    async run(name, options, args) {
      const container = `tandem-test-${process.pid}-${name}`;
      containers.push(container);
      const common = ["--detach", "--name", container, "--network", "host", "--cgroups", "disabled", ...LIMITS];
      await podman("run", ...common, ...options, IMAGE, ...args);
      return container;
    },
    exec: (container, ...command) => podman("exec", container, ...command),
    logs: (container) => podman("logs", container),
    async stop(container) {
      await podman("stop", "--time", "60", container);
      return Number(await podman("inspect", "--format", "{{.State.ExitCode}}", container));
    },
    async [Symbol.asyncDispose]() {
      for (const container of containers) await podman("rm", "--force", "--time", "5", container).catch(() => {});
      holder.kill("SIGKILL");
      await once(holder, "exit");
    },
  };
}
