import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressOf } from "./lab-machines.ts";
import type { LabNetwork } from "./lab-network.ts";
import { type LabService, startService } from "./lab-service.ts";

const PORT = 6432;

export interface LabPgBouncer extends LabService {
  /** The pooled address of a database of the machine `postgres`. */
  pooled(url: string): string;
}

/** PgBouncer in its own machine, in transaction mode. */
export async function startLabPgBouncer(network: LabNetwork): Promise<LabPgBouncer> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "tandem-lab-pgbouncer-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const file = join(folder, "pgbouncer.ini");
  const settings = [
    "[databases]",
    `* = host=${addressOf("postgres")} port=5432 user=postgres`,
    "[pgbouncer]",
    `listen_addr = ${addressOf("pgbouncer")}`,
    `listen_port = ${PORT}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "max_client_conn = 500",
    "default_pool_size = 20",
    "ignore_startup_parameters = extra_float_digits",
  ];
  await writeFile(file, `${settings.join("\n")}\n`);
  const service = parts.use(await startService(network, "pgbouncer", ["/usr/sbin/pgbouncer", "-q", file]));
  const held = parts.move();
  return {
    ...service,
    pooled: (url) => {
      const pooled = new URL(url);
      [pooled.hostname, pooled.port] = ["pgbouncer", String(PORT)];
      return pooled.href;
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
