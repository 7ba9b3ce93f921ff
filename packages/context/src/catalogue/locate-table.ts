import type { ContextFolder } from "../folder/context-folder.ts";
import { leftAlone } from "../folder/left-alone.ts";
import { parseTableFile, type TableFile } from "./table-file.ts";
import { distinctTablePath, type TableIdentity, tablePath } from "./table-path.ts";

export interface LocatedTable {
  path: string;
  text: string;
  file: TableFile;
}

/**
 * Finds the file of a table: at its plain path or, if another table has that, at its distinct path. Undefined if there
 * is none.
 */
export async function locateTable(
  folder: Pick<ContextFolder, "read">,
  { connection, schema, table }: TableIdentity,
): Promise<LocatedTable | undefined> {
  const identity = { connection, schema, table };
  for (const path of new Set([tablePath(identity), distinctTablePath(identity)])) {
    const text = await folder.read(path).catch(leftAlone);
    const parsed = text === undefined ? undefined : parseTableFile(text);
    if (!parsed?.success) continue;
    const { table: file } = parsed;
    if (file.schema === schema && file.table === table) return { path, text: text!, file };
  }
  return undefined;
}
