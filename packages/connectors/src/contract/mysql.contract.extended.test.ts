import { createHash } from "node:crypto";
import { openConnection } from "../open-connection.ts";
import { MysqlSession } from "../mysql/mysql-session.ts";
import { queryLimits } from "../query-limits.ts";
import { serverAddress } from "../server-address.ts";
import { startMariaDb, whyNoMariaDb } from "../testing/mariadb.ts";
import { connectionContract } from "./connection.contract.ts";
import { MYSQL, MYSQL_SAMPLE } from "./mysql-samples.ts";
import type { ConnectorFixture } from "./connector-stage.ts";

async function openFixture(): Promise<ConnectorFixture> {
  const server = await startMariaDb();
  const client = await server.connect();
  await client.query("create database shop character set utf8mb4; use shop");
  for (const statement of MYSQL_SAMPLE) await client.query(statement);
  // The user has all rights, so rights are not the reason why writes fail.
  const url = server.url("shop");
  return {
    dialect: "mysql",
    samples: MYSQL,
    open: () => openConnection({ driver: "mysql", url }),
    execute: async (statements) => void (await client.query(statements.join(";\n"))),
    fingerprint: async () => {
      const [tables] = await client.query(
        "select table_name from information_schema.tables where table_schema = 'shop' order by 1",
      );
      const hash = createHash("sha256").update(JSON.stringify(tables));
      for (const { table_name: name } of tables as { table_name: string }[]) {
        hash.update(JSON.stringify((await client.query(`select * from \`${name}\``))[0]));
      }
      return hash.update(JSON.stringify((await client.query("select user from mysql.user"))[0])).digest("hex");
    },
    bypass: async (sql) => {
      const session = await MysqlSession.open(url, serverAddress(url, ["mysql:"], 3306));
      try {
        return await session.reading(queryLimits(), () => session.ask(sql));
      } finally {
        session.end();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await server[Symbol.asyncDispose]();
    },
  };
}

connectionContract("MariaDB", openFixture, whyNoMariaDb());
