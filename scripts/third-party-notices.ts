import { existsSync, globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { z } from "zod";

const root = join(import.meta.dirname, "..");
const PAGE_NOTICES = join(root, "apps", "web", "dist", "third-party-notices.md");
const manifest = z.object({ name: z.string(), version: z.string(), license: z.string().default("see its repository") });

/** Licences of the libraries whose code is in these modules, and of those in the page. Markdown. */
export function thirdPartyNotices(modules: readonly string[], hasPage: boolean): string {
  const folders = [...new Set(modules.flatMap((id) => libraryFolder(id) ?? []))].sort();
  const sections = folders.map((folder) => {
    const { name, version, license } = manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    const files = globSync(["LICEN[CS]E*", "licen[cs]e*", "NOTICE*"], { cwd: folder }).sort();
    const texts = [...new Set(files.map((file) => readFileSync(join(folder, file), "utf8").trim()))];
    return `## ${name} ${version} (${license})\n\n${texts.join("\n\n") || "The package contains no licence text."}\n`;
  });
  const page = hasPage && existsSync(PAGE_NOTICES) ? [`# In the page\n\n${readFileSync(PAGE_NOTICES, "utf8")}`] : [];
  return [
    "# Third-party notices",
    "This package contains code of the libraries below. Claude Code, which the server installs as a dependency, is not among them: it has its own licence, Anthropic's commercial terms.",
    ...sections,
    ...page,
  ].join("\n\n");
}

/** The folder of the library that a module is part of. Undefined for our own modules. */
function libraryFolder(id: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  // Generated modules start with a NUL character.
  const file = id.replace(/^\0/, "");
  const end = file.lastIndexOf(mark);
  if (end === -1) return undefined;
  const [first = "", second = ""] = file.slice(end + mark.length).split(sep);
  const folder = join(file.slice(0, end + mark.length), first.startsWith("@") ? join(first, second) : first);
  return existsSync(join(folder, "package.json")) ? folder : undefined;
}
