// node scripts/build-image.ts: builds the image localhost/tandem with buildah, without a registry of images. Its base is made
// of Debian's packages, and of Node and npm from npm. Needs buildah and mmdebstrap; without root, also user namespaces.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const BASE = "localhost/tandem-base";
const IMAGE = "localhost/tandem";
const DEBIAN = "bookworm";
const NPM = "npm@11.19.0";
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const show = (program: string, args: readonly string[]): void =>
  void execFileSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

const read = (program: string, args: readonly string[], cwd = root): string =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();

/** Debian with the Node that runs this script, and npm. */
function buildBase(): void {
  const folder = mkdtempSync(join(tmpdir(), "tandem-base-"));
  try {
    // An archive, because without root the files of other users could not be read from a folder.
    const system = join(folder, "system.tar");
    show("mmdebstrap", ["--variant=minbase", "--include=ca-certificates,libstdc++6", DEBIAN, system]);
    const local = join(folder, "local");
    const programs = join(local, "bin");
    const modules = join(local, "lib/node_modules");
    for (const path of [programs, modules]) mkdirSync(path, { recursive: true });
    cpSync(process.execPath, join(programs, "node"), { dereference: true });
    const archive = read("npm", ["pack", "--silent", NPM], folder);
    show("tar", ["xzf", join(folder, archive), "-C", modules]);
    renameSync(join(modules, "package"), join(modules, "npm"));
    for (const name of ["npm", "npx"]) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(programs, name));
    }
    const container = read("buildah", ["from", "scratch"]);
    show("buildah", ["add", "--quiet", container, system, "/"]);
    show("buildah", ["add", "--quiet", container, local, "/usr/local"]);
    show("buildah", ["config", "--env", `PATH=${PATH}`, container]);
    show("buildah", ["commit", "--quiet", "--rm", container, BASE]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each step runs in a chroot, with the network of this machine. The format of Docker has the health check. */
function buildImage(): void {
  const registry = read("npm", ["config", "get", "registry"]);
  // npm must also trust a registry behind this machine's own certificate authority.
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
  const values = [`BASE=${BASE}`, `NPM_CONFIG_REGISTRY=${registry}`];
  const how = ["--isolation", "chroot", "--network", "host", "--format", "docker"];
  if (authorities) {
    values.push(`NODE_EXTRA_CA_CERTS=${authorities}`);
    how.push("--volume", `${authorities}:${authorities}:ro`);
  }
  const buildArgs = values.flatMap((value) => ["--build-arg", value]);
  show("buildah", ["build", ...how, ...buildArgs, "--tag", IMAGE, root]);
}

const hasBase = execFileSync("buildah", ["images", "--format", "{{.Name}}"], { encoding: "utf8" }).includes(BASE);
if (!hasBase || process.argv.includes("--base")) buildBase();
buildImage();
