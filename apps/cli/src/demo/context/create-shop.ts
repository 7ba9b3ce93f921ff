import { readFile } from "node:fs/promises";

export async function createShop(file: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file);
  try {
    database.exec(await readFile(new URL("shop.sql", import.meta.url), "utf8"));
  } finally {
    database.close();
  }
}
