import type { Locator } from "playwright-core";

interface InsertedFile {
  name: string;
  type: string;
  /** Base64. */
  content: string;
}

/** The smallest valid PNG. */
export const PICTURE: InsertedFile = {
  name: "dot.png",
  type: "image/png",
  content: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
};

export const textFile = (name: string, text: string): InsertedFile => ({
  name,
  type: "text/plain",
  content: Buffer.from(text).toString("base64"),
});

/** Dispatches the events of a paste or a drop of files. */
export const insertFiles = (place: Locator, way: "paste" | "drop", files: readonly InsertedFile[]): Promise<void> =>
  place.evaluate(
    (element, { way: how, files: given }) => {
      const data = new DataTransfer();
      for (const { name, type, content } of given) {
        const bytes = Uint8Array.from(atob(content), (char) => char.codePointAt(0) ?? 0);
        data.items.add(new File([bytes], name, { type }));
      }
      const init = { bubbles: true, cancelable: true };
      if (how === "paste") element.dispatchEvent(new ClipboardEvent("paste", { ...init, clipboardData: data }));
      else {
        for (const type of ["dragover", "drop"]) {
          element.dispatchEvent(new DragEvent(type, { ...init, dataTransfer: data }));
        }
      }
    },
    { way, files: [...files] },
  );
