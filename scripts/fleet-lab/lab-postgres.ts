import { mkdtemp, rm, writeFile, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type TestPostgres } from "@tandem/storage/testing";
import { addressOf, NETWORK_RANGE } from "./lab-machines.ts";
import type { LabNetwork } from "./lab-network.ts";
import { machineCommand } from "./machine-command.ts";

export interface LabPostgres extends AsyncDisposable {
  postgres: TestPostgres;
  /** For the machines. */
  url: string;
  /** For the observer, over a socket that no fault reaches. */
  socketUrl: string;
}

/** Postgres in its own machine, with a database for the fleet. */
export async function startLabPostgres(network: LabNetwork): Promise<LabPostgres> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "tandem-lab-pg-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const access = join(folder, "pg_hba.conf");
  await writeFile(access, `local all all trust\nhost all all ${NETWORK_RANGE} trust\n`);
  const postgres = parts.use(
    await startPostgres({
      settings: [`listen_addresses=${addressOf("postgres")}`, `hba_file=${access}`],
      wrapper: machineCommand(network, "postgres", { cwd: "/" }, []),
    }),
  );
  const socketUrl = await postgres.createDatabase();
  const { pathname } = new URL(socketUrl);
  const held = parts.move();
  return {
    postgres,
    url: `postgres://postgres@postgres${pathname}`,
    socketUrl,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
