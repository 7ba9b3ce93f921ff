import { createHash } from "node:crypto";
import type { DocumentRecord } from "../evidence/document-record.ts";

/** Documents that one agent reads together. */
export interface UnitPlan<T = DocumentRecord> {
  /** Name in events and reports: its first document and the number of others. */
  name: string;
  documents: T[];
}

export type UnitDocument = Pick<DocumentRecord, "citation" | "source" | "path" | "characters">;

/** Limits of one unit: all of it fits into the prompt. A longer document is alone, and read in parts. */
const LIMITS = { documents: 24, characters: 40_000 };

/**
 * Groups documents of one top folder: an agent's requests depend more on the number of units than on their documents.
 * Unit boundaries are content-defined, so adding, changing or removing a document affects only its neighbours, and
 * cached results of other units stay valid.
 */
export function planUnits<T extends UnitDocument>(documents: readonly T[]): UnitPlan<T>[] {
  const sorted = documents.toSorted((a, b) => (a.citation < b.citation ? -1 : 1));
  const folders = Map.groupBy(sorted, ({ source, path }) => `${source} ${topFolder(path)}`);
  return [...folders.values()].flatMap((inFolder) => {
    const units: T[][] = [];
    let room = { documents: 0, characters: 0 };
    for (const document of inFolder) {
      if (room.documents < 1 || room.characters < document.characters || beginsUnit(document)) {
        units.push([]);
        room = LIMITS;
      }
      units.at(-1)!.push(document);
      room = { documents: room.documents - 1, characters: room.characters - document.characters };
    }
    return units.map(unitOf);
  });
}

/** Two units of half the documents, to find the one that a model refuses. */
export function splitUnit({ documents }: UnitPlan): UnitPlan[] {
  const middle = Math.ceil(documents.length / 2);
  return [unitOf(documents.slice(0, middle)), unitOf(documents.slice(middle))];
}

const unitOf = <T extends UnitDocument>(documents: T[]): UnitPlan<T> => ({ name: nameOf(documents), documents });

const topFolder = (path: string): string => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "");

/** About every 32nd, independent of the others. */
const beginsUnit = ({ citation }: UnitDocument): boolean =>
  createHash("sha256").update(citation).digest()[0]! % 32 === 0;

function nameOf([first, ...others]: readonly UnitDocument[]): string {
  const name = `${first!.source}/${first!.path}`;
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
