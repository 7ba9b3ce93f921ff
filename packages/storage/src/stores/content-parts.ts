/** Content is kept and read in parts, so that a large one never has to be in one message or row. */
const PART_BYTES = 1_048_576;

export function toParts(content: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < content.length; from += PART_BYTES) parts.push(content.slice(from, from + PART_BYTES));
  return parts;
}

/** Undefined if one of the parts is not there: it was deleted in the meantime. */
export async function fromParts(
  size: number,
  readPart: (part: number) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  const content = new Uint8Array(size);
  for (let from = 0; from < size; from += PART_BYTES) {
    const bytes = await readPart(from / PART_BYTES);
    if (!bytes) return undefined;
    content.set(bytes, from);
  }
  return content;
}
