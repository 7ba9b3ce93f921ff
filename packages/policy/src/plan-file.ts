import { dirname, resolve } from "node:path";
import type { JudgedCall } from "./rules/rule-book.ts";

const FILE_TOOLS = new Set(["Write", "Edit", "Read"]);

/** Whether a call reads or writes a plan directly in the folder of plans. Plan mode allows these calls. */
export const isPlanFile = ({ name, mcpServer, input }: JudgedCall, plans: string): boolean => {
  const { file_path: path } = input;
  if (mcpServer !== undefined || !FILE_TOOLS.has(name) || typeof path !== "string") return false;
  return path.endsWith(".md") && dirname(resolve(path)) === resolve(plans);
};
