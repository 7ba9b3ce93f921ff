import { TandemError } from "@tandem/protocol";

/** A PDF's text with one heading per page, because people cite pages. */
export async function pdfToMarkdown(bytes: Uint8Array, path: string): Promise<{ title: string; markdown: string }> {
  // Imported on demand: loading takes longer than reading most documents.
  const { extractText, getDocumentProxy } = await import("unpdf");
  let pages: string[];
  let title = "";
  try {
    // The library transfers the buffer, so pass a copy.
    const pdf = await getDocumentProxy(bytes.slice(), { verbosity: 0 });
    try {
      ({ text: pages } = await extractText(pdf, { mergePages: false }));
      const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
      if ("Title" in info && typeof info.Title === "string") title = info.Title.trim();
    } finally {
      await pdf.loadingTask.destroy();
    }
  } catch (cause) {
    throw refusalOf(path, cause);
  }
  const markdown = pages
    .map((text, index) => ({ text: text.trim(), number: index + 1 }))
    .filter(({ text }) => text !== "")
    .map(({ text, number }) => `## Page ${number}\n\n${escapeBlocks(text)}`)
    .join("\n\n");
  if (markdown === "") {
    throw new TandemError("no_text", `${path} has no text in it; it may be a scan.`, {
      fix: "Run it through text recognition (OCR) first, or leave it out with `exclude`.",
    });
  }
  return { title, markdown };
}

/** Escapes lines that look like headings or fences. */
const escapeBlocks = (text: string): string => text.replaceAll(/^(#{1,6}\s|```|~~~|=+$|-+$)/gm, "\\$1");

function refusalOf(path: string, cause: unknown): TandemError {
  const isLocked = cause instanceof Error && cause.name === "PasswordException";
  return isLocked
    ? new TandemError("encrypted", `${path} is encrypted with a password.`, {
        fix: "Save a copy without a password, or leave it out with `exclude`.",
        cause,
      })
    : new TandemError("broken", `${path} is not a PDF that can be read.`, {
        fix: "Open it and save it again, or leave it out with `exclude`.",
        cause,
      });
}
