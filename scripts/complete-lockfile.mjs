// npm run lockfile: after `npm install`, adds the lock entries of optional platform packages that the registry
// in use did not offer. Without them `npm ci` refuses the lockfile, and other platforms miss their binaries.
import { readFileSync, writeFileSync } from "node:fs";

const OSES = {
  darwin: "darwin",
  win32: "win32",
  linux: "linux",
  linuxmusl: "linux",
  android: "android",
  freebsd: "freebsd",
  openbsd: "openbsd",
  netbsd: "netbsd",
  sunos: "sunos",
  aix: "aix",
  openharmony: "openharmony",
};
const CPUS = {
  x64: "x64",
  arm64: "arm64",
  ia32: "ia32",
  arm: "arm",
  ppc64: "ppc64",
  ppc64le: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  loong64: "loong64",
  mips64el: "mips64el",
  wasm32: "wasm32",
};

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));
let added = 0;
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (resolvable(parent, name)) continue;
    const words = name.split("/").pop().split("-");
    const os = words.map((word) => OSES[word]).find(Boolean);
    const cpu = words.map((word) => CPUS[word]).find(Boolean);
    if (!/^\d/.test(range) || (!os && !cpu)) {
      console.error(`left out: ${name}@${range} (of ${parent || "the root"}): not a pinned platform package`);
      continue;
    }
    lock.packages[`node_modules/${name}`] = {
      version: range,
      ...(cpu && { cpu: [cpu] }),
      ...(entry.dev && { dev: true }),
      optional: true,
      ...(os && { os: [os] }),
    };
    added += 1;
  }
}
// Download addresses belong to the machine that installed, not to the project.
for (const entry of Object.values(lock.packages)) if (!entry.link) delete entry.resolved;
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added`);

function resolvable(parent, name) {
  for (let folder = parent; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, "")) {
    if (lock.packages[`${folder ? `${folder}/` : ""}node_modules/${name}`]) return true;
    if (!folder) return false;
    if (!folder.includes("node_modules")) folder = "";
  }
}
