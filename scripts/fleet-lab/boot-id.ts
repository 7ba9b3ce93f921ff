import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const KERNEL_FILE = "/proc/sys/kernel/random/boot_id";
/** A mount over the kernel's file would keep unprivileged sandboxes from mounting /proc. */
const HOOK = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { readFileSync } = fs;
fs.readFileSync = (path, ...rest) => readFileSync(path === "${KERNEL_FILE}" ? process.env.LAB_BOOT_ID : path, ...rest);
syncBuiltinESMExports();
`;

/**
 * The boot id of a machine. Namespaces share the kernel's: a process would see that the holder of a lease on another machine has
 * ended, and take its sessions before the lease expires.
 */
export class BootId {
  readonly #file: string;
  readonly #hook: string;

  private constructor(folder: string) {
    this.#file = join(folder, "boot-id");
    this.#hook = join(folder, "boot-id-hook.mjs");
  }

  static async create(folder: string): Promise<BootId> {
    const id = new BootId(folder);
    await writeFile(id.#hook, HOOK);
    await id.renew();
    return id;
  }

  /** Adds the hook to the variables of a Node process. */
  addTo(variables: Readonly<Record<string, string>>): Record<string, string> {
    const options = `${variables["NODE_OPTIONS"] ?? ""} --import=${pathToFileURL(this.#hook).href}`;
    return { ...variables, NODE_OPTIONS: options.trim(), LAB_BOOT_ID: this.#file };
  }

  /** The machine starts again. */
  renew(): Promise<void> {
    return writeFile(this.#file, `${randomUUID()}\n`);
  }
}
