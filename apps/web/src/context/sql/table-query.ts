/** A query of a whole table. Unusual names are quoted as the database does. */
export function tableQuery(driver: string | undefined, { schema, table }: { schema: string; table: string }): string {
  const quote = (name: string): string => {
    if (/^[a-z_][a-z0-9_]*$/.test(name)) return name;
    return driver === "mysql" ? `\`${name.replaceAll("`", "``")}\`` : `"${name.replaceAll('"', '""')}"`;
  };
  return `select * from ${quote(schema)}.${quote(table)}`;
}
