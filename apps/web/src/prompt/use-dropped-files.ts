import { useEffect, useEffectEvent, useState } from "react";

/** Who would have them, the latest last: what lies over a field takes what is dropped on it. */
const takers: object[] = [];

/** Files that are dropped anywhere on the page: beside the field is as good as into it. True while some hang over it. */
export function useDroppedFiles(add: (files: Iterable<File>) => void): boolean {
  const [isOver, setOver] = useState(false);
  const onDrop = useEffectEvent((event: DragEvent) => {
    const files = event.dataTransfer?.files;
    if (!files || files.length === 0) return;
    event.preventDefault();
    add(files);
  });
  useEffect(() => {
    const own = {};
    takers.push(own);
    const isMine = (): boolean => takers.at(-1) === own;
    const allow = (event: DragEvent): void => {
      if (!isMine() || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (isMine()) onDrop(event);
    };
    // Out of the window, and not from one element of it to the next.
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    addEventListener("dragover", allow);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      takers.splice(takers.indexOf(own), 1);
      removeEventListener("dragover", allow);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}
