import { saveFile } from "../api/save-download.ts";
import { exportMarkdown, readWholeLog } from "./export-markdown.ts";

/** Downloads a session as Markdown or as all its events. */
export async function exportSession(session: string, title: string, format: "md" | "json"): Promise<void> {
  const name =
    title
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-|-$/g, "")
      .toLowerCase() || "session";
  const text =
    format === "md" ? await exportMarkdown(session, title) : JSON.stringify(await readWholeLog(session), null, 1);
  saveFile(`${name}.${format}`, new Blob([text]));
}
