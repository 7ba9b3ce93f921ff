import { copyPostgresBinaries } from "@tandem/storage/testing";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Built by `node scripts/build-image.ts`. */
const IMAGE = "localhost/tandem";
/**
 * A mount namespace with cgroups of version 2 alone, because crun refuses machines with both versions, and with its own list of
 * networks: podman's DNS server ends with the last network of its list, and other tests may leave networks in the common one.
 */
const NAMESPACE = `umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /run/containers/networks && mount -t tmpfs none /run/containers/networks
echo ready; exec sleep infinity`;
/** The limits of this process: one without CAP_SYS_RESOURCE may not raise them. */
const LIMITS = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];
const COMMON = ["--cgroups", "disabled", ...LIMITS];
/** Found by the name that compose.yaml gives, `postgres:18`. */
const POSTGRES = "localhost/postgres:18";
const root = join(import.meta.dirname, "..", "..", "..", "..", "..");

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

/** Why podman-compose cannot run the compose files here; undefined if it can. */
export function whyNoCompose(): string | undefined {
  const missing = whyNoImage();
  if (missing !== undefined) return missing;
  if (!existsSync("/usr/bin/podman-compose")) return "there is no podman-compose";
  return existsSync("/usr/lib/podman/aardvark-dns") ? undefined : "podman has no DNS between containers (aardvark-dns)";
}

export interface Podman extends AsyncDisposable {
  /** Starts the image with the network of this machine. Returns the container's name. */
  run(name: string, options: readonly string[], args: readonly string[]): Promise<string>;
  exec(container: string, ...command: string[]): Promise<string>;
  logs(container: string): Promise<string>;
  /** The image's own health check, which a slow machine may fail once. */
  isHealthy(container: string): Promise<boolean>;
  /** Stops it like an operator; resolves with its exit code. */
  stop(container: string): Promise<number>;
  /** Starts the services of a compose file. They are removed, with their volumes and network, when it is disposed. */
  compose(file: string, options: ComposeOptions): Promise<ComposeProject>;
}

interface ComposeProject extends AsyncDisposable {
  /** The name of a service's container. */
  container: (service: string) => string;
}

interface ComposeOptions {
  /** Another file, whose services complete those of the first one. */
  override: object;
  secrets: string;
  workspace: string;
  /** The first three numbers of the network's addresses. */
  subnet: string;
}

export async function openPodman(): Promise<Podman> {
  const holder = spawn("unshare", ["-m", "sh", "-c", NAMESPACE], { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  const containers: string[] = [];
  const inNamespace = async (env: Record<string, string>, ...command: string[]): Promise<string> => {
    const options = { env: { ...process.env, ...env } };
    const { stdout } = await promisify(execFile)("nsenter", ["-t", String(holder.pid), "-m", ...command], options);
    return stdout;
  };
  const podman = (...args: string[]): Promise<string> => inNamespace({}, "podman", ...args);
  return {
    async run(name, options, args) {
      const container = `tandem-test-${process.pid}-${name}`;
      containers.push(container);
      await podman("run", "--detach", "--name", container, "--network", "host", ...COMMON, ...options, IMAGE, ...args);
      return container;
    },
    exec: (container, ...command) => podman("exec", container, ...command),
    logs: (container) => podman("logs", container),
    isHealthy: (container) =>
      podman("exec", container, "node", "/app/container/health.mjs").then(
        () => true,
        () => false,
      ),
    async stop(container) {
      await podman("stop", "--time", "60", container);
      return Number(await podman("inspect", "--format", "{{.State.ExitCode}}", container));
    },
    async compose(file, { override, secrets, workspace, subnet }) {
      const project = `tandem-test-${process.pid}-${subnet.replaceAll(".", "-")}`;
      await using parts = new AsyncDisposableStack();
      const folder = mkdtempSync(join(tmpdir(), "tandem-compose-"));
      parts.defer(() => rmSync(folder, { recursive: true, force: true }));
      const more = join(folder, "override.json");
      writeFileSync(more, JSON.stringify(override));
      const env = { TANDEM_SECRETS: secrets, TANDEM_WORKSPACE: workspace };
      const compose = (...args: string[]) => {
        const options = ["-p", project, "-f", join(root, file), "-f", more, `--podman-run-args=${COMMON.join(" ")}`];
        return inNamespace(env, "podman-compose", ...options, ...args);
      };
      // The name that podman-compose would give it.
      const network = `${project}_default`;
      await podman("network", "create", "--subnet", `${subnet}.0/24`, network);
      parts.defer(async () => void (await podman("network", "rm", "--force", network)));
      parts.defer(async () => void (await compose("down", "--volumes", "--timeout", "5")));
      await compose("up", "--no-build", "--detach");
      const owned = parts.move();
      return {
        container: (service) => `${project}_${service}_1`,
        [Symbol.asyncDispose]: () => owned.disposeAsync(),
      };
    },
    async [Symbol.asyncDispose]() {
      for (const container of containers) await podman("rm", "--force", "--time", "5", container).catch(() => {});
      holder.kill("SIGKILL");
      await once(holder, "exit");
    },
  };
}

/** Builds the stand-in for the image of Postgres, from the binaries of the tests. */
export function buildPostgresImage(): void {
  const folder = mkdtempSync(join(tmpdir(), "tandem-postgres-image-"));
  try {
    cpSync(join(import.meta.dirname, "postgres-image"), folder, { recursive: true });
    copyPostgresBinaries(folder);
    const how = ["--isolation", "chroot", "--network", "host", "--format", "docker"];
    read("buildah", ["build", "--quiet", ...how, "--tag", POSTGRES, folder]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
