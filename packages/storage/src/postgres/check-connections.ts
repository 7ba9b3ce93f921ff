import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import { Client, type ClientConfig } from "pg";

/** How long a notification may take between two connections of one server. */
const HEARD_WITHIN_MS = 5_000;
/** Two clients in this order. A pooler in transaction mode gives both the same backend, or one of them another backend. */
const TURNS = [0, 1, 1, 0, 0, 1] as const;

/**
 * Refuses a pooler in transaction mode where connections must keep their settings: `direct` if it is given, else
 * `main`. With `direct`, also refuses one that does not hear the notifications of `main`.
 */
export async function checkConnections(main: ClientConfig, direct?: ClientConfig): Promise<void> {
  await using owned = new AsyncDisposableStack();
  const first = await connect(direct ?? main, owned);
  // A pooler answers logins itself, with a process number of its own.
  const isPooled = "processID" in first && first.processID !== (await backendOf(first));
  if (isPooled && (await sharesBackends(first, await connect(direct ?? main, owned))))
    throw pooled(direct !== undefined);
  if (direct && !(await hears(first, await connect(main, owned)))) throw elsewhere();
}

async function connect(config: ClientConfig, owned: AsyncDisposableStack): Promise<Client> {
  const client = new Client(config);
  // The running statement reports the failure; without a listener the event would crash the process.
  client.on("error", () => {});
  owned.defer(() => client.end().catch(() => {}));
  await client.connect();
  return client;
}

async function backendOf(client: Client): Promise<number> {
  return (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]!.pid;
}

async function sharesBackends(...clients: readonly [Client, Client]): Promise<boolean> {
  const seen = [new Set<number>(), new Set<number>()] as const;
  for (const turn of TURNS) seen[turn].add(await backendOf(clients[turn]));
  return seen[0].size > 1 || seen[1].size > 1 || [...seen[0]].some((pid) => seen[1].has(pid));
}

async function hears(listener: Client, sender: Client): Promise<boolean> {
  const channel = `tandem_${randomUUID()}`;
  const done = new AbortController();
  listener.on("notification", () => done.abort());
  await listener.query(`listen "${channel}"`);
  await sender.query("select pg_notify($1, '')", [channel]);
  await delay(HEARD_WITHIN_MS, undefined, { signal: done.signal }).catch(() => {});
  return done.signal.aborted;
}

const pooled = (isDirect: boolean): TandemError =>
  new TandemError(
    "pooled_connection",
    `${isDirect ? "storage.directUrl" : "The database's URL"} reaches Postgres through a pooler in transaction mode, where notifications and settings of a connection are lost.`,
    {
      fix: isDirect
        ? "Set storage.directUrl to an address of Postgres itself, or of a pooler in session mode."
        : "Set storage.directUrl, or DATABASE_DIRECT_URL, to an address of Postgres itself; or let the pooler use session mode.",
    },
  );

const elsewhere = (): TandemError =>
  new TandemError("wrong_direct_url", "storage.directUrl and storage.url reach different databases.", {
    fix: "Let both name the same database: storage.url through the pooler, storage.directUrl without it.",
  });
