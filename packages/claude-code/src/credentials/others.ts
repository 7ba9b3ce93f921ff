import { join } from "node:path";
import type { CredentialPlace, Found } from "./credential-place.ts";
import { brokenNotices, filled, type JsonFile, opennessNotices, readJsonFile } from "./read-json-file.ts";

/** Keys by which other tools keep an Anthropic key. Claude Code reads only the first, and only in its own file. */
export const KEY_NAMES = ["primaryApiKey", "apiKey", "anthropicApiKey", "customApiKey"] as const;

/** Credentials of other tools on this machine: they are theirs, and nothing of ours uses them. */
export async function placesOfOthers({
  home,
  dataHome,
  configHome,
}: {
  home: string;
  dataHome: string;
  configHome: string;
}): Promise<Found> {
  const files = await Promise.all(
    [
      { path: join(home, ".claude.json.api"), tool: "another tool", look: hasKey },
      { path: join(dataHome, "opencode", "auth.json"), tool: "opencode", look: ofOpencode },
      { path: join(home, ".amp", "config.json"), tool: "Amp", look: hasKey },
      { path: join(configHome, "amp", "settings.json"), tool: "Amp", look: hasKey },
    ].map(async ({ path, tool, look }) => ({ file: await readJsonFile(path), tool, look })),
  );
  const read = files.map(({ file, tool, look }) => {
    const kind = file.state === "found" ? look(file.content) : undefined;
    const state = file.state === "found" && !kind ? "absent" : file.state;
    const place: CredentialPlace = {
      id: file.path,
      group: "others",
      kind: kind ?? "api_key",
      state,
      readBy: "others",
      detail: [`Of ${tool}.`, state === "found" ? undefined : detailOf(file)].filter(Boolean).join(" "),
    };
    return { place, notices: kind ? opennessNotices(file) : brokenNotices(file) };
  });
  return { places: read.map(({ place }) => place), notices: read.flatMap(({ notices }) => notices) };
}

const detailOf = (file: JsonFile): string | undefined => (file.state === "found" ? undefined : file.detail);

const hasKey = (content: Record<string, unknown>): "api_key" | undefined =>
  [...KEY_NAMES, "amp.apiKey"].some((name) => filled(content[name])) ? "api_key" : undefined;

/** By provider: `{"anthropic": {"type": "oauth", …}}`. */
function ofOpencode(content: Record<string, unknown>): "login" | "api_key" | undefined {
  const entry = content["anthropic"];
  if (typeof entry !== "object" || entry === null || !("type" in entry)) return undefined;
  return entry.type === "oauth" ? "login" : "api_key";
}
