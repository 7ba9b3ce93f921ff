import { createHash } from "node:crypto";
import { dirname } from "node:path/posix";
import type { DocumentRecord } from "../evidence/document-record.ts";

/** Documents that one agent reads together. */
export interface UnitPlan {
  /** What events and reports name it by: its first document, and how many others. */
  name: string;
  documents: DocumentRecord[];
}

/** Of one unit. A document that is longer goes alone, and is read in parts. */
const LIMITS = { documents: 6, characters: 40_000 };

/**
 * Puts documents of one folder together. Where a unit begins depends on the documents themselves (content-defined, as in
 * backups), so that one that is added, changed or left out moves its nearest neighbours at most: what was read of the
 * others is still good.
 */
export function planUnits(documents: readonly DocumentRecord[]): UnitPlan[] {
  const sorted = documents.toSorted((a, b) => (a.citation < b.citation ? -1 : 1));
  const folders = Map.groupBy(sorted, ({ source, path }) => `${source} ${dirname(path)}`);
  return [...folders.values()].flatMap((inFolder) => {
    const units: DocumentRecord[][] = [];
    let room = { documents: 0, characters: 0 };
    for (const document of inFolder) {
      if (room.documents < 1 || room.characters < document.characters || beginsUnit(document)) {
        units.push([]);
        room = LIMITS;
      }
      units.at(-1)!.push(document);
      room = { documents: room.documents - 1, characters: room.characters - document.characters };
    }
    return units.map((unit) => ({ name: nameOf(unit), documents: unit }));
  });
}

/** Every fourth or so, whichever the others are. */
const beginsUnit = ({ citation }: DocumentRecord): boolean =>
  createHash("sha256").update(citation).digest()[0]! % 4 === 0;

function nameOf([first, ...others]: readonly DocumentRecord[]): string {
  const name = `${first!.source}/${first!.path}`;
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
