import { createHash } from "node:crypto";
import { dirname } from "node:path/posix";
import type { DocumentRecord } from "../evidence/document-record.ts";

/** Documents that one agent reads together. */
export interface UnitPlan {
  /** Name in events and reports: its first document and the number of others. */
  name: string;
  documents: DocumentRecord[];
}

/** Limits of one unit. A longer document is alone, and read in parts. */
const LIMITS = { documents: 6, characters: 40_000 };

/**
 * Groups documents of one folder. Unit boundaries are content-defined, so adding, changing or removing a document
 * affects only its neighbours, and cached results of other units stay valid.
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

/** About every fourth, independent of the others. */
const beginsUnit = ({ citation }: DocumentRecord): boolean =>
  createHash("sha256").update(citation).digest()[0]! % 4 === 0;

function nameOf([first, ...others]: readonly DocumentRecord[]): string {
  const name = `${first!.source}/${first!.path}`;
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
