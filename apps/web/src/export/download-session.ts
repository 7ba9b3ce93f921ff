import { formatCassette } from "@tandem/protocol";
import { api } from "../api/client.ts";
import { readLog } from "../api/read-log.ts";
import { saveFile } from "../api/save-download.ts";
import { exportMarkdown } from "./export-markdown.ts";

/** Downloads a session as Markdown or as all its events. */
export async function downloadSession(session: string, title: string, format: "md" | "json"): Promise<void> {
  const text =
    format === "md" ? await exportMarkdown(session, title) : JSON.stringify((await readLog(session)).events, null, 1);
  saveFile(`${fileName(title)}.${format}`, new Blob([text]));
}

/** Downloads a session as a cassette, for `tandem cassettes test`. */
export async function saveTestCase(session: string, title: string): Promise<void> {
  const cassette = await api.call("sessions.cassette", { params: { session_id: session } });
  saveFile(`${fileName(title)}.cassette.jsonl`, new Blob([formatCassette(cassette)]));
}

const fileName = (title: string): string =>
  title
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "")
    .toLowerCase() || "session";
