import { useEffect, useEffectEvent, useState } from "react";

/** Registered drop targets. The last one wins, so that a dialog takes the files instead of the page below. */
const dropTargets: object[] = [];

/** Accepts files dropped anywhere on the page. True while files are dragged over it. */
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
    dropTargets.push(own);
    const isMine = (): boolean => dropTargets.at(-1) === own;
    const allow = (event: DragEvent): void => {
      if (!isMine() || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (isMine()) onDrop(event);
    };
    // Leaving the window, not just moving between elements.
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    addEventListener("dragover", allow);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      dropTargets.splice(dropTargets.indexOf(own), 1);
      removeEventListener("dragover", allow);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}
