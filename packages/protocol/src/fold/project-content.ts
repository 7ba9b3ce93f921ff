import type { UserContent } from "../events/content.ts";
import type { PartOf } from "./message.ts";

/** The id of the part for one of an event's content blocks. */
export const partId = (eventId: string, index: number): string => (index === 0 ? eventId : `${eventId}.${index}`);

export function contentParts(
  eventId: string,
  content: readonly UserContent[],
  at: string | null,
): PartOf<"text" | "file">[] {
  return content.map((block, index) => {
    const id = partId(eventId, index);
    return block.type === "text" ? { type: "text", id, at, text: block.text } : { type: "file", id, at, file: block };
  });
}
