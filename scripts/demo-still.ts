// node scripts/demo-still.ts: runs the demo in colour and draws its output as docs/demo.svg.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scratchVariables } from "./scratch-variables.ts";

const LINE_HEIGHT = 19;
const CHARACTER_WIDTH = 8.1;
const MARGIN = 20;
const COLUMNS = 118;

/** The terminal codes that the demo uses. */
const STYLES: Record<string, string> = {
  "1": "font-weight:700",
  "2": "fill:#8b949e",
  "31": "fill:#ff7b72",
  "32": "fill:#7ee787",
  "33": "fill:#e3b341",
  "36": "fill:#79c0ff",
};

// Build the pattern from a string, because linters reject control characters in a regular expression.
const CODE = new RegExp(`${String.fromCodePoint(27)}\\[(\\d+)m`);

const root = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "tandem-still-"));
const output = execFileSync(process.execPath, [join(root, "apps/cli/bin/tandem.mjs"), "demo"], {
  encoding: "utf8",
  env: { ...scratchVariables(scratch), FORCE_COLOR: "1" },
});
rmSync(scratch, { recursive: true, force: true });

const lines = ["$ npm start", "", ...output.trimEnd().split("\n")];
const width = Math.round(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
const texts = lines.map((line, index) => {
  const y = MARGIN + (index + 1) * LINE_HEIGHT - 5;
  return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${paint(line)}</text>`;
});
writeFileSync(
  join(root, "docs/demo.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="What npm start prints: the demo">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13.5" fill="#e6edf3">
${texts.join("\n")}
</g>
</svg>
`,
);

/** One line with terminal codes as coloured spans. */
function paint(line: string): string {
  let open = false;
  const spans = line.split(CODE).map((part, index) => {
    if (index % 2 === 0) return part.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const style = STYLES[part];
    const closing = open ? "</tspan>" : "";
    open = style !== undefined;
    return style ? `${closing}<tspan style="${style}">` : closing;
  });
  return spans.join("") + (open ? "</tspan>" : "");
}
