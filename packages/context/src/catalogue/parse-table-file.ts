import type { FileProblem } from "../file-problem.ts";
import { readYaml } from "../read-yaml.ts";
import { tableFile, type TableFile } from "./table-file.ts";

export type ParsedTableFile = { success: true; table: TableFile } | { success: false; problems: FileProblem[] };

export function parseTableFile(text: string): ParsedTableFile {
  const read = readYaml(text, tableFile);
  return read.success ? { success: true, table: read.value } : read;
}
